import { describe, expect, it } from 'vitest';
import { RunError } from '../kernel/errors.js';
import { faultText } from './diagnostics.js';

const systemError = (code: string) => Object.assign(new Error(`${code}: no space left on device, write`), { code });

describe('a fault in the log of a server', () => {
  it('has no stack when the disk is full, however the error was wrapped', () => {
    expect(faultText(systemError('ENOSPC'))).toBe('disk full: ENOSPC: no space left on device, write');
    const wrapped = new Error('access log: not written', { cause: systemError('ENOSPC') });
    expect(faultText(wrapped)).toBe('disk full: access log: not written');
    const store = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    expect(faultText(store)).toBe('database or disk is full');
    expect(faultText(new RunError('STORE_FULL', 'store x: disk full'))).toBe('store x: disk full');
    expect(faultText('text')).toBe('text');
  });

  it('has its stack when it is a bug', () => {
    expect(faultText(new TypeError('x is not a function'))).toMatch(/^TypeError: x is not a function\n +at /);
  });
});
