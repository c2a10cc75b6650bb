import { describe, expect, it } from 'vitest';
import { ambiguity, endsConnection } from './strict-request.js';

const of = (rawHeaders: string[], httpVersionMinor: number) =>
  ambiguity({ httpVersionMajor: 1, httpVersionMinor, rawHeaders });
const HOST = ['Host', 'h'];

describe('ambiguity', () => {
  it.each<[string[], number]>([
    [HOST, 1],
    [[...HOST, 'content-length', '5', 'content-type', 'x', 'accept', '*/*'], 1],
    [[...HOST, 'Transfer-Encoding', 'Chunked'], 1],
    [[...HOST, 'date', 'x', 'x-four-teen-xx', 'y', 'x-seventeen-xxxxx', 'z'], 1],
    [[], 0],
    [['content-length', '5'], 0],
  ])('finds none in %j of HTTP/1.%i', (headers, minor) => {
    expect(of(headers, minor)).toBeNull();
  });

  it.each<[string[], number, string]>([
    [[], 1, 'no host'],
    [[...HOST, 'HOST', 'h'], 1, 'more than one host'],
    [['host', 'a', 'host', 'b'], 0, 'more than one host'],
    [[...HOST, 'Transfer-Encoding', 'chunked'], 0, 'HTTP/1.0 has no transfer-encoding'],
    [[...HOST, 'transfer-encoding', 'identity, chunked'], 1, 'only chunked'],
    [[...HOST, 'transfer-encoding', 'gzip, chunked'], 1, 'only chunked'],
    [[...HOST, 'transfer-encoding', ',chunked'], 1, 'only chunked'],
    [[...HOST, 'transfer-encoding', ''], 1, 'only chunked'],
    [[...HOST, 'transfer-encoding', 'identity', 'transfer-encoding', 'chunked'], 1, 'only chunked'],
    [[...HOST, 'Transfer_Encoding', 'chunked'], 1, 'could be taken for transfer-encoding'],
    [[...HOST, 'Content_Length', '5'], 1, 'could be taken for content-length'],
  ])('sees %j of HTTP/1.%i', (headers, minor, problem) => {
    expect(of(headers, minor)).toContain(problem);
  });
});

describe('ambiguity of versions', () => {
  it.each([
    [0, 9],
    [2, 0],
  ])('sees HTTP/%i.%i', (httpVersionMajor, httpVersionMinor) => {
    expect(ambiguity({ httpVersionMajor, httpVersionMinor, rawHeaders: HOST })).toContain('neither HTTP/1.1');
  });
});

describe('endsConnection', () => {
  it.each([
    [{}, false],
    [{ upgrade: 'h2c' }, true],
    [{ upgrade: 'h2c', 'content-length': '0' }, true],
    [{ upgrade: 'h2c', 'content-length': '5' }, false],
    [{ upgrade: 'h2c', 'transfer-encoding': 'chunked' }, false],
  ])('with %j: %s', (headers, ends) => {
    expect(endsConnection({ headers } as never)).toBe(ends);
  });
});
