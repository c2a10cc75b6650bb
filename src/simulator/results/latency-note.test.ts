import { expect, it } from 'vitest';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { gpuFamily } from '../../replica/latency/physics/gpu-family.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { latencyNote } from './latency-note.js';

const replica = (queueSamples: number) => [{ counters: { queueSamples, steps: 100 } }] as never;
const config = (part: Partial<ReplicaModelConfig>) => ({
  replica: { hardware: 'H100', ...part } as ReplicaModelConfig,
});

it('says which coefficients were used, and how far off they usually are', () => {
  const note = latencyNote(config({ latencyModel: 'physics', latencyFamily: gpuFamily('H100') }), replica(99), false);
  expect(note).toMatchObject({ model: 'physics', coefficients: 'H100' });
  expect(note.expected_error).toMatch(/^half of measured H100 runs .*E2E \d+ %.*below saturation/);
});

it('expects more error where requests wait', () => {
  const note = latencyNote(config({ latencyModel: 'physics', latencyFamily: gpuFamily('H100') }), replica(100), false);
  expect(note).toMatchObject({ expected_error: expect.stringContaining('near saturation') });
});

it('says that a GPU was never measured', () => {
  const note = latencyNote(
    config({ hardware: 'B200', latencyModel: 'physics', latencyFamily: gpuFamily('B200') }),
    replica(0),
    false,
  );
  expect(note.expected_error).toMatch(/^no run on B200 was measured/);
});

it('names a measured profile, and any other latency model', () => {
  const profile = config({ latencyModel: 'profile', latencyProfile: fakeProfile() });
  expect(latencyNote(profile, replica(0), false)).toEqual({ model: 'profile', profile: 'tiny' });
  expect(latencyNote(config({ latencyModel: 'roofline' }), replica(0), false)).toEqual({ model: 'roofline' });
});

it('promises nothing about a fleet of several kinds', () => {
  const kinds = [
    config({ latencyModel: 'physics', latencyFamily: gpuFamily('H100') }),
    config({ latencyModel: 'profile' }),
  ];
  const fleet = kinds.map((kind) => ({ ...kind, count: 2 }));
  expect(latencyNote({ ...kinds[0]!, fleet }, replica(0), false)).toEqual({ model: 'physics, profile' });
});
