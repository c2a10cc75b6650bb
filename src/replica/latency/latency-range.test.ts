import { expect, it } from 'vitest';
import { fakeProfile } from './fake-profile.fixture.js';
import { setupOf, shapeOf } from './latency.contract.js';
import { latencyRange } from './latency-range.js';
import { gpuFamily } from './physics/gpu-family.js';
import { physics } from './physics/physics.js';
import { profileLatency } from './profile-latency.js';

const shape = shapeOf([], [100, 200]);
const rangeOf = (origin: Parameters<typeof latencyRange>[0], latency = profileLatency(fakeProfile())) =>
  latencyRange(origin, latency);

it('has steps as much quicker and slower as default coefficients are usually off', () => {
  const latency = physics.create(setupOf('qwen/qwen3-14b'), () => {});
  const family = gpuFamily('H100');
  const { quick, slow, why } = rangeOf({ latencyFamily: family }, latency)!;
  const share = family.expected.itl / 100;
  expect(quick.stepUs(shape)).toBe(Math.trunc((1 - share) * latency.stepUs(shape)));
  expect(slow.stepUs(shape)).toBe(Math.trunc((1 + share) * latency.stepUs(shape)));
  expect(why).toContain(`${family.expected.itl} %`);
});

it("varies the host's part of a measured profile, and all of a step", () => {
  const host = { stepUs: 100, promptUs: 0, promptTokenUs: 0 };
  const profile = { ...fakeProfile({ host }), uncertainty: { host: 0.5 } };
  const middle = profileLatency(profile).stepUs(shape);
  const { quick, slow, why } = rangeOf({ latencyProfile: profile })!;
  // Half of 100 per step and of 32 per request.
  expect([middle - quick.stepUs(shape), slow.stepUs(shape) - middle]).toEqual([82, 82]);
  expect(why).toBe("the host's work 50 % quicker or slower, as from run to run");
  const all = rangeOf({ latencyProfile: { ...profile, uncertainty: { step: 0.1 } } })!;
  expect(all.slow.stepUs(shape)).toBe(Math.trunc(1.1 * middle));
});

it('is not known for other latency models, and for profiles that state none', () => {
  expect(rangeOf({})).toBeNull();
  expect(rangeOf({ latencyProfile: fakeProfile() })).toBeNull();
});
