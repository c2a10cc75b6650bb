import { describe, expect, it } from 'vitest';
import { decisionHeader, downstreamHeaders, headerValue, upstreamHeaders } from './headers.js';

const from = (rawHeaders: string[]) => ({ rawHeaders, forwardedFor: '', isForwarded: false });

describe('upstreamHeaders', () => {
  it('passes on client headers in their spelling and order, duplicates included', () => {
    const given = ['Content-Type', 'application/json', 'X-Thing', 'a', 'x-thing', 'b', 'accept', '*/*'];
    expect(upstreamHeaders(from(given), 'id-1', null)).toEqual([...given, 'x-request-id', 'id-1']);
  });

  it('removes connection headers, the key and the headers that it sets itself', () => {
    const dropped = [
      ...['Connection', 'keep-alive', 'Keep-Alive', 'timeout=5', 'Transfer-Encoding', 'chunked', 'TE', 'trailers'],
      ...['Trailer', 'x-sum', 'Upgrade', 'h2c', 'Proxy-Authorization', 'x', 'Proxy-Connection', 'close', 'Host', 'h'],
      ...['Content-Length', '3', 'Expect', '100-continue', 'X-Request-Id', 'theirs', 'Authorization', 'Bearer k'],
      ...['X-Api-Key', 'k', 'Accept-Encoding', 'gzip', 'Endpoint-Load-Metrics-Format', 'JSON'],
    ];
    expect(upstreamHeaders(from(dropped), 'id-1', null)).toEqual(['x-request-id', 'id-1']);
  });

  it('sends its own span to the replica, where the request is traced', () => {
    const given = ['Traceparent', 'theirs', 'tracestate', 'a=1', 'x', 'y'];
    const trace = { traceId: 't', spanId: 's', parentSpanId: '', traceState: '', traceParentForUpstream: 'ours' };
    expect(upstreamHeaders(from(given), 'i', null)).toEqual([...given, 'x-request-id', 'i']);
    const ours = ['x', 'y', 'x-request-id', 'i', 'traceparent', 'ours'];
    expect(upstreamHeaders(from(given), 'i', trace)).toEqual(ours);
    expect(upstreamHeaders(from(given), 'i', { ...trace, traceState: 'a=1' })).toEqual([...ours, 'tracestate', 'a=1']);
  });

  it('removes headers named by the connection header', () => {
    const given = ['Connection', 'close, X-Hop', 'x-hop', '1', 'X-Other', '2', 'connection', ' x-other ,'];
    expect(upstreamHeaders(from(given), 'i', null)).toEqual(['x-request-id', 'i']);
  });
});

describe('downstreamHeaders', () => {
  it('passes on replica headers, byte for byte', () => {
    const given = ['Content-Type', 'text/plain', 'x-note', 'a=1', 'x-note', 'b=\xe9', 'Content-Length', '3'];
    expect(downstreamHeaders(given)).toEqual(given);
  });

  it('removes connection headers and those that the gateway sets itself', () => {
    const dropped = [
      ...[
        'connection',
        'keep-alive',
        'Keep-Alive',
        'timeout=75',
        'transfer-encoding',
        'chunked',
        'Connection',
        'Close',
      ],
      ...['x-request-id', 'a', 'X-Twinyard-Replica', 'b', 'x-twinyard-decision', 'c', 'trailer', 'x'],
      ...['endpoint-load-metrics', 'TEXT named_metrics.num_requests_waiting=0'],
    ];
    expect(downstreamHeaders([...dropped, 'server', 'uvicorn'])).toEqual(['server', 'uvicorn']);
  });

  it('removes headers named by the connection header, wherever it stands', () => {
    const given = ['X-Hop', '1', 'server', 's', 'Connection', 'x-hop', 'x-HOP', '2'];
    expect(downstreamHeaders(given)).toEqual(['server', 's']);
  });
});

it('finds a header whatever its spelling', () => {
  expect(headerValue(['A', '1', 'X-Thing', '2'], 'x-thing')).toBe('2');
  expect(headerValue(['X-Thing2', '2'], 'x-thing')).toBeUndefined();
});

it('adds how a replica was chosen, for each request', () => {
  expect(decisionHeader('weighted', 'highest score')).toBe('weighted: highest score');
  expect(decisionHeader('weighted', 'a tie')).toBe('weighted: a tie');
  expect(decisionHeader('sticky', 'a tie')).toBe('sticky: a tie');
});
