import { describe, expect, it } from 'vitest';
import { CHUNKED, NOT_GIVEN } from './message-framing.js';

/** What a direction makes of the fields of a message. */
export interface Framed {
  /** Bytes of the body, `CHUNKED`, or `NOT_GIVEN` when the fields do not say. */
  length: number;
  keepsAlive: boolean;
}

/** The rules of framing that hold for requests and for responses. @param read throws for malformed fields */
export function framingContract(read: (fields: string[], minor: number) => Framed): void {
  describe('framing that both directions share', () => {
    it.each<[string[], number, number]>([
      [[], 1, NOT_GIVEN],
      [['Content-Length', '5', 'content-type', 'x', 'accept', '*/*'], 1, 5],
      [['content-length', '0'], 1, 0],
      [['content-length', '007'], 1, 7],
      [['content-length', '5'], 0, 5],
      [['Transfer-Encoding', 'Chunked'], 1, CHUNKED],
      [['x-four-teen-xx', '1', 'x-seventeen-xxxxx', '2', 'connectiox', 'close'], 1, NOT_GIVEN],
    ])('%j of HTTP/1.%i has a body of %i', (fields, minor, length) => {
      expect(read(fields, minor).length).toBe(length);
    });

    it.each<[string[], number, string]>([
      [['content-length', '5', 'Content-Length', '5'], 1, 'more than one content-length'],
      [['content-length', '5', 'content-length', '6'], 1, 'more than one content-length'],
      [['content-length', ''], 1, 'an invalid content-length'],
      [['content-length', '+5'], 1, 'an invalid content-length'],
      [['content-length', '-5'], 1, 'an invalid content-length'],
      [['content-length', '5, 5'], 1, 'an invalid content-length'],
      [['content-length', '5 5'], 1, 'an invalid content-length'],
      [['content-length', '0x5'], 1, 'an invalid content-length'],
      [['content-length', '1e3'], 1, 'an invalid content-length'],
      [['content-length', '1'.repeat(16)], 1, 'an invalid content-length'],
      [['transfer-encoding', 'chunked', 'content-length', '5'], 1, 'both content-length and transfer-encoding'],
      [['content-length', '5', 'transfer-encoding', 'chunked'], 1, 'both content-length and transfer-encoding'],
      [['transfer-encoding', 'chunked', 'transfer-encoding', 'chunked'], 1, 'more than one transfer-encoding'],
      [['transfer-encoding', 'identity'], 1, 'other than chunked'],
      [['transfer-encoding', 'gzip, chunked'], 1, 'other than chunked'],
      [['transfer-encoding', 'chunked, chunked'], 1, 'other than chunked'],
      [['transfer-encoding', ',chunked'], 1, 'other than chunked'],
      [['transfer-encoding', ''], 1, 'other than chunked'],
      [['transfer-encoding', 'chunked'], 0, 'a transfer-encoding in HTTP/1.0'],
    ])('%j of HTTP/1.%i is malformed', (fields, minor, problem) => {
      expect(() => read(fields, minor)).toThrow(problem);
    });

    it.each<[string[], number, boolean]>([
      [[], 1, true],
      [[], 0, false],
      [['Connection', 'Keep-Alive, x'], 0, true],
      [['connection', 'close'], 1, false],
      [['connection', 'x, Close'], 1, false],
      [['connection', 'keep-alive', 'connection', 'close'], 1, false],
      [['connection', 'closed'], 1, true],
    ])('with %j of HTTP/1.%i the connection persists: %s', (fields, minor, keeps) => {
      expect(read([...fields, 'content-length', '0'], minor).keepsAlive).toBe(keeps);
    });

    it('depends on no message before', () => {
      read(['content-length', '5', 'connection', 'close'], 0);
      expect(read(['transfer-encoding', 'chunked'], 1)).toEqual({ length: CHUNKED, keepsAlive: true });
    });
  });
}
