import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../src/gateway/config/gateway-config.js';
import { fakeEngine } from './support/engine-fixture.js';
import { expectIdle, gatewayOver } from './support/gateway-fixture.js';
import { Clients, isServed } from './support/gateway-load.js';

const REPLICAS = 4;
const CLIENTS = 40;
const EACH = 5;

test('the default policy spreads one hot prefix over all replicas', async () => {
  const engines = await Promise.all(Array.from({ length: REPLICAS }, (_, seed) => fakeEngine({ seed })));
  const gateway = await gatewayOver(engines);
  const endpoint = gateway.endpoints.get('default')!;
  endpoint.setPolicy(DEFAULT_POLICY);
  const clients = new Clients(gateway.url);
  const system = { role: 'system', content: 'You are the assistant of the yard. '.repeat(60) };
  const chosen = new Map<string, number>();
  const one = async (client: number) => {
    for (let i = 0; i < EACH; i++) {
      const user = { role: 'user', content: `question ${client} ${i}` };
      const ended = await clients.send({ model: 'tiny', stream: true, max_tokens: 8, messages: [system, user] });
      expect(isServed(ended)).toBe(true);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => one(client)));
  for (const { replica } of gateway.ring.latest(CLIENTS * EACH)) chosen.set(replica!, (chosen.get(replica!) ?? 0) + 1);
  // Half of an even share is far from what capturing by the prefix would leave: nothing.
  expect(chosen.size).toBe(REPLICAS);
  for (const count of chosen.values()) expect(count).toBeGreaterThan((CLIENTS * EACH) / REPLICAS / 2);
  expectIdle(gateway);
});
