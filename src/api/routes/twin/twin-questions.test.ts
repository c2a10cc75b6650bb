import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../../../gateway/config/gateway-config.js';
import { ReplicaProfiles } from '../../../gateway/prediction/replica-profiles.js';
import { PROFILE } from '../../../twin/whatif/recorded-run.fixture.js';
import type { WhatIfBody } from '../../views/twin-bodies.js';
import { question } from './twin-questions.js';

const profiles = new ReplicaProfiles();
profiles.set('r0', { ...PROFILE, name: 'of one' });
profiles.set('r1', PROFILE);
profiles.set('r2', PROFILE);
const queue = { saturation_detector: 'concurrency', max_concurrency: 9 };
const endpoint = { managed: null, replicas: [], profiles, policy: { ...DEFAULT_POLICY, name: 'lmetric', options: {} } };
const asked = (body: object, from: object = {}) =>
  question(
    { ...endpoint, ...from },
    { config: GATEWAY_DEFAULTS } as never,
    { last: '1h', ...body } as unknown as WhatIfBody,
  );

describe('a question over the API', () => {
  it('is about the present policy and the profile of most replicas unless it names others', () => {
    const { alternatives, replica } = asked({ replicas: 3 });
    expect(replica.latencyProfile).toBe(PROFILE);
    const { admission, flowControl } = DEFAULT_POLICY;
    const rest = { admission, flowControl, sloPriorities: {}, tenantBudgets: {} };
    expect(alternatives).toEqual([{ ...rest, routing: { policy: 'lmetric', options: {} }, replicas: 3 }]);
  });

  it('needs no catalogue where the profile says how much fits, and keeps the profile where a model is named', () => {
    const own = new ReplicaProfiles();
    const scheduler = { ...PROFILE.scheduler, totalKvBlocks: 5000, maxModelLen: 4096, blockSize: 16 };
    const profile = { ...PROFILE, model: 'in-house', hardware: 'unknown', scheduler };
    own.set('r0', profile);
    const { replica } = asked({}, { profiles: own });
    expect(replica).toMatchObject({ model: 'in-house', hardware: 'unknown', totalKvBlocks: 5000, maxModelLen: 4096 });
    expect(replica.latencyProfile).toBe(profile);
    expect(asked({ model: 'qwen/qwen3-14b' }).replica.latencyProfile).toBe(PROFILE);
    expect(asked({ model: 'qwen/qwen3-14b', hardware: 'H200' }).replica.latencyProfile).toBeUndefined();
  });

  it('takes admission and a queue as a policy file has them', () => {
    const admission = { policy: 'token-bucket', options: { capacity: 500 } };
    const [one] = asked({ admission, flow_control: queue }).alternatives;
    expect(one!.admission).toMatchObject({ policy: 'token-bucket', options: { capacity: 500 } });
    expect(one!.flowControl).toMatchObject({
      saturationDetector: 'concurrency',
      maxConcurrency: 9,
      maxQueueDepth: 1000,
    });
  });

  it('keeps the queue of the endpoint, or drops it where it asks for none', () => {
    const present = asked({ flow_control: queue }).alternatives[0]!.flowControl!;
    const from = { policy: { ...endpoint.policy, flowControl: present } };
    expect(asked({}, from).alternatives[0]!.flowControl).toBe(present);
    expect(asked({ flow_control: null }, from).alternatives[0]!.flowControl).toBeNull();
  });

  it('is refused where step times cannot carry over to the GPU, or nothing is known of the engines', () => {
    expect(asked({ gpu: 'H200' }).alternatives[0]).toMatchObject({ gpu: 'H200' });
    expect(() => asked({ gpu: 'H999' })).toThrow("body (gpu): 'H999' is not in the catalogue");
    expect(() => asked({ admission: { policy: 'none', options: {} } })).toThrow("unknown admission policy 'none'");
    expect(() => asked({}, { profiles: new ReplicaProfiles() })).toThrow('the endpoint serves no model yet');
  });
});
