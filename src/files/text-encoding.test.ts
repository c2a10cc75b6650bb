import { describe, expect, it } from 'vitest';
import { decodeText } from './text-encoding.js';

const TEXT = 'version: "2"\nclients: []\n';
const little = Buffer.from(TEXT, 'utf16le');
const big = Buffer.from(little).swap16();

describe('decodeText', () => {
  it('reads UTF-8, with any characters and of any length', () => {
    for (const text of ['', 'a', 'ab', TEXT, 'schön: 世界\n', '\ufeffa: 1\n', '\0\0\0\0']) {
      expect(decodeText(Buffer.from(text), 'f')).toBe(text);
    }
  });

  it.each([
    ['little-endian with a byte order mark', Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
    ['big-endian with a byte order mark', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['little-endian without one', little],
    ['big-endian without one', big],
  ])('refuses UTF-16, %s', (_, bytes) => {
    expect(() => decodeText(bytes, 'f.yaml')).toThrow('f.yaml: UTF-16 text; save it as UTF-8');
  });
});
