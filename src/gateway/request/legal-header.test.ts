import { describe, expect, it } from 'vitest';
import { legalHeader } from './legal-header.js';

describe('legalHeader', () => {
  it('leaves plain text alone and replaces everything else', () => {
    expect(legalHeader('weighted: highest score')).toBe('weighted: highest score');
    expect(legalHeader('line\r\nfeed\t\x00\x7f é 副本')).toBe('line??feed??? ? ??');
    expect(legalHeader('x'.repeat(1000))).toHaveLength(200);
  });
});
