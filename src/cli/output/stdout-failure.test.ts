import { describe, expect, it } from 'vitest';
import { stdoutFailure } from './stdout-failure.js';

describe('stdoutFailure', () => {
  const failed = (code: string) => {
    let said = '';
    const stderr = {
      write: (text: string) => {
        said += text;
      },
    };
    return [stdoutFailure(Object.assign(new Error(`${code}: write`), { code }), stderr), said];
  };

  it('says why in one line', () => {
    expect(failed('ENOSPC')).toEqual([1, 'twinyard: cannot write the result: disk full\n']);
  });

  it('says nothing when the reader has gone', () => {
    expect(failed('EPIPE')).toEqual([0, '']);
  });
});
