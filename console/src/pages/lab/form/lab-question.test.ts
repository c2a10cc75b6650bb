import { describe, expect, it } from 'vitest';
import { besidesRouting, bodyOf, isSameExperiment, searchOf } from './lab-question';

const ASKED = {
  traffic: { workload: 'rag', rate: 30, requests: 1000 },
  fleet: { model: 'qwen/qwen3-14b', replicas: 4 },
  policies: ['round-robin', 'least-loaded', 'lmetric'],
  seeds: 3,
};

describe('the experiment of a result and that of the form', () => {
  it('are the same however the address writes them', () => {
    expect(isSameExperiment({}, ASKED)).toBe(true);
    expect(isSameExperiment({ rate: '30.0', seeds: '3', job: 'one', chart: 'itl', load: '30' }, ASKED)).toBe(true);
    const recorded = {
      ...ASKED,
      traffic: { recording: { endpoint: 'chat', from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z' } },
    };
    expect(isSameExperiment(searchOf(recorded), recorded)).toBe(true);
    expect(isSameExperiment({ ...searchOf(recorded), from: undefined, to: undefined }, recorded)).toBe(false);
    const upload = { ...ASKED, traffic: { upload: { id: 'a'.repeat(64), format: 'trace' } } };
    expect(isSameExperiment({ ...searchOf(upload), file: 'a.jsonl' }, upload)).toBe(true);
  });

  it.each([
    { rate: '31' },
    { rate: '30,40' },
    { policies: 'round-robin,lmetric' },
    { policies: 'round-robin,least-loaded,lmetric:batch_offset=1' },
    { kinds: '2*H100' },
    { admission: 'token-bucket' },
    { queue: 'queue' },
    { slo: '500' },
    { source: 'recording' as const, endpoint: 'chat' },
  ])('differ with %j', (change) => {
    expect(isSameExperiment(change, ASKED)).toBe(false);
    expect(isSameExperiment(change, bodyOf(change, 0))).toBe(true);
  });
});

it('names what a swap of the policy leaves as it is', () => {
  const admission = { policy: 'token-bucket', options: { capacity: 5 } };
  expect(besidesRouting(ASKED)).toEqual([]);
  expect(besidesRouting({ ...ASKED, admission, flow_control: {} })).toEqual([
    'admission token-bucket:capacity=5',
    'the queue before routing',
  ]);
});
