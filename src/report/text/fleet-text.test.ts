import { expect, it } from 'vitest';
import { fleetText } from './fleet-text.js';

const replica = { model: 'm', hardware: 'H100', tp: 1 } as Parameters<typeof fleetText>[0]['replica'];

it('names replicas that are alike, and the kinds of others', () => {
  expect(fleetText({ instances: 4, replica })).toBe('m on H100, tp 1, 4 instances');
  const fleet = [
    { count: 2, replica },
    { count: 1, replica: { ...replica, hardware: 'L4', tp: 2, latencyProfile: { name: 'tiny' } as never } },
  ];
  expect(fleetText({ instances: 3, replica, fleet })).toBe(
    'm on 2 x H100 (tp 1) and 1 x L4 (tp 2, profile tiny), 3 instances',
  );
});
