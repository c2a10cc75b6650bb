import { describe, expect, it } from 'vitest';
import { framingContract } from '../wire/framing.contract.js';
import { CHUNKED, NOT_GIVEN } from '../wire/message-framing.js';
import { ResponseFraming } from './response-framing.js';

const framing = new ResponseFraming();
framingContract((fields, minor) => {
  framing.read(200, minor, fields, false);
  const { keepsAlive, length } = framing;
  return { keepsAlive, length };
});

describe('ResponseFraming', () => {
  it('ends with its connection when no field gives a length', () => {
    framing.read(200, 1, [], false);
    expect([framing.length, framing.keepsAlive]).toEqual([NOT_GIVEN, false]);
  });

  it.each<[number, boolean, number]>([
    [200, true, 0],
    [204, false, 0],
    [304, false, 0],
    [200, false, CHUNKED],
  ])('with status %i, to HEAD %s, has a body of %i', (status, isHead, length) => {
    framing.read(status, 1, ['transfer-encoding', 'chunked'], isHead);
    expect([framing.length, framing.keepsAlive]).toEqual([length, true]);
  });

  it('reads how long the replica keeps the connection', () => {
    const keptFor = (...fields: string[]) => {
      framing.read(200, 1, fields, false);
      return framing.keepAliveMs;
    };
    expect(keptFor('Keep-Alive', 'timeout=5, max=100')).toBe(5000);
    expect(keptFor('keep-alive', 'timeout=5, max=100')).toBe(5000);
    expect(keptFor('keep-alive', 'max=100')).toBe(Number.POSITIVE_INFINITY);
    expect(keptFor()).toBe(Number.POSITIVE_INFINITY);
  });
});
