import { describe, expect, it } from 'vitest';
import type { RequestResult, ResultDocument } from '../../simulator/result-document.js';
import { requestsJson, resultJson, resultWithRequestsJson } from './result-json.js';

const document = { cluster: { completed_requests: 2 }, config: { instances: 1 } } as unknown as ResultDocument;
const request = (n: number): RequestResult => ({
  request_id: `request_${n}`,
  instance: 'instance_0',
  status: 'completed',
  arrival_us: n,
  scheduling_delay_us: 1,
  ttft_us: 2,
  itl_mean_us: 0.5,
  e2e_us: null,
  input_tokens: 3,
  output_tokens: 4,
  slo_class: 'default',
  tenant: null,
  session: null,
  round: null,
  model: 'm',
  gateway_wait_us: null,
});
const joined = (pieces: Iterable<string>) => [...pieces].join('');

describe('resultJson', () => {
  it('is indented by two spaces and ends with a newline', () => {
    expect(resultJson(document)).toBe(
      '{\n  "cluster": {\n    "completed_requests": 2\n  },\n  "config": {\n    "instances": 1\n  }\n}\n',
    );
  });
});

describe('resultWithRequestsJson', () => {
  it.each([0, 1, 2, 4096, 4097, 9000])('adds %d requests to the same document', (count) => {
    const requests = Array.from({ length: count }, (_, n) => request(n));
    const text = joined(resultWithRequestsJson(document, requests));
    expect(JSON.parse(text)).toEqual({ ...document, requests });
    expect(text.endsWith('\n}\n')).toBe(true);
    expect(text.split('\n').filter((line) => line.includes('request_id'))).toHaveLength(count);
  });
});

describe('requestsJson', () => {
  it.each([0, 1, 5000])('lists %d requests', (count) => {
    const requests = Array.from({ length: count }, (_, n) => request(n));
    expect(JSON.parse(joined(requestsJson(requests)))).toEqual(requests);
  });
});
