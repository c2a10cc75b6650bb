import { describe, expect, it } from 'vitest';
import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import { DEFAULT_POLICY } from './gateway-config.js';
import { readPolicyBody, readReplicaBody } from './read-admin-body.js';

const replicaIn = (text: string) => readReplicaBody(JSON.parse(text));
const policyIn = (text: string, ...more: [Present?, Warn?]) => readPolicyBody(JSON.parse(text), ...more);
type Present = Parameters<typeof readPolicyBody>[1];
type Warn = Parameters<typeof readPolicyBody>[2];

describe('readReplicaBody', () => {
  it('reads a replica', () => {
    expect(replicaIn('{"url":"http://h:1"}')).toEqual({
      ...{ id: 'h:1', url: 'http://h:1', engine: 'vllm', models: null },
    });
    expect(replicaIn('{"url":"https://h/","id":"i","engine":"tgi","model":"m"}')).toEqual({
      ...{ id: 'i', url: 'https://h', engine: 'tgi', models: ['m'] },
    });
  });

  it.each([
    ['null', 'is not a map'],
    ['[]', 'is not a map'],
    ['{}', 'is missing'],
    ['{"url":5}', '5 is not text'],
    ['{"url":"h:1/x"}', 'more or less than an address'],
    ['{"url":"nothing"}', 'is not a URL'],
    ['{"url":"http://h/?q"}', 'more or less than an address'],
    ['{"url":"http://h:1","engine":"vlm"}', "unknown value 'vlm'"],
    ['{"url":"http://h:1","urls":1}', "unknown key 'urls'"],
  ])('reports what is wrong with %s', (text, problem) => {
    expect(() => replicaIn(text)).toThrowError(
      expect.objectContaining({ place: expect.stringMatching(/^body/), problem: expect.stringContaining(problem) }),
    );
  });
});

describe('readPolicyBody', () => {
  it('reads a whole policy with defaults for missing keys', () => {
    expect(policyIn('{}')).toEqual(DEFAULT_POLICY);
    const present = { ...DEFAULT_POLICY, name: 'random', tenantBudgets: { t: 1 } };
    expect(policyIn('{"routing":{"policy":"lmetric","block_size":32}}', present)).toEqual({
      ...DEFAULT_POLICY,
      name: 'lmetric',
      blockSize: 32,
    });
    const whole = {
      routing: { policy: 'weighted', scorers: [{ name: 'queue-depth', weight: 2 }], options: { tie_break: 'first' } },
      admission: {
        policy: 'tier-shed',
        tier_shed_threshold: 8,
        slo_priorities: { gold: 9 },
        slo_targets: { gold: 50 },
      },
      tenant_budgets: { t: 0.5 },
      max_num_seqs: 64,
      flow_control: {
        dispatch_order: 'slo-deadline',
        request_ttl_ms: 2.5,
        dispatch_tick_ms: 0.0001,
        queue_shedding: true,
      },
    };
    expect(readPolicyBody(whole)).toEqual({
      ...DEFAULT_POLICY,
      name: 'weighted',
      options: { scorers: 'queue-depth:2', tie_break: 'first' },
      admission: { policy: 'tier-shed', options: { threshold: 8, min_priority: 3 } },
      sloPriorities: { gold: 9 },
      tenantBudgets: { t: 0.5 },
      seatsPerReplica: 64,
      flowControl: {
        ...flowControlOf({}, {}),
        dispatchOrder: 'slo-deadline',
        requestTtlUs: 2500,
        dispatchTickUs: 1,
        queueShedding: true,
        sloTargetsUs: { gold: 50 },
      },
    });
  });

  it('accepts only routing keys, and leaves the rest unchanged', () => {
    const present = { ...DEFAULT_POLICY, name: 'random', cacheBlocks: 7, tenantBudgets: { t: 1 } };
    expect(policyIn('{"policy":"lmetric","block_size":32}', present)).toEqual({
      ...DEFAULT_POLICY,
      name: 'lmetric',
      blockSize: 32,
      tenantBudgets: { t: 1 },
    });
    const weighted = { policy: 'weighted', options: { scorers: 'queue-depth:1' }, cache_blocks: 5 };
    expect(readPolicyBody(weighted)).toEqual({
      ...DEFAULT_POLICY,
      name: 'weighted',
      options: { scorers: 'queue-depth:1' },
      cacheBlocks: 5,
    });
  });

  it('warns of keys that have no effect', () => {
    const lines: string[] = [];
    const body = {
      scheduler: 'sjf',
      preemption: { policy: 'priority' },
      priority: { policy: 'x' },
      admission: { slo_targets: { a: 1 } },
      routing: { policy: 'weighted', scorers: [{ name: 'prefix-affinity', weight: 1 }] },
    };
    readPolicyBody(body, DEFAULT_POLICY, (line) => lines.push(line));
    expect(lines).toEqual([
      expect.stringMatching(/\(routing\.scorers\): prefix-affinity alone/),
      expect.stringMatching(/\(admission\.slo_targets\): has no effect without flow_control/),
      expect.stringMatching(/\(scheduler\): has no effect live/),
      expect.stringMatching(/\(preemption\): has no effect live/),
      expect.stringMatching(/\(priority\): has no effect/),
    ]);
  });

  it.each([
    ['{"policy":"wighted"}', "unknown routing policy 'wighted'"],
    ['{"options":{"scorer":"x"}}', "'scorer'"],
    ['{"options":[1]}', 'not a map'],
    ['{"block_size":0}', 'too small'],
    ['{"name":"weighted"}', "unknown key 'name'"],
    ['{"policy":"lmetric","admission":{}}', "stands beside 'admission'"],
    ['{"admission":{"policy":"tire-shed"}}', "unknown admission policy 'tire-shed'"],
    ['{"admission":{"token_bucket_capacity":5}}', 'the admission policy is always-admit'],
    ['{"admission":{"policy":"token-bucket","token_bucket_capacity":0}}', '0 is too small'],
    ['{"flow_control":{"saturation_detector":"concurency"}}', "unknown value 'concurency'"],
    ['{"flow_control":{"max_queue_depth":0}}', 'too small'],
    ['{"tenant_budgets":{"t":2}}', 'too large'],
    ['{"routing":{"policy":"random","scorers":[{"name":"queue-depth","weight":1}]}}', 'has no effect with the routing'],
  ])('reports what is wrong with %s', (text, problem) => {
    expect(() => policyIn(text)).toThrowError(expect.objectContaining({ problem: expect.stringContaining(problem) }));
  });
});
