import { afterEach, expect, it } from 'vitest';
import { configFor } from '../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { followReplicas, type ReplicaChange } from './follow-gateway.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

it('looks at each replica once for all streams, and at none that no stream wants', async () => {
  const gateway = new Gateway(configFor([{ url: 'http://127.0.0.1:1' }]));
  opened.push(() => gateway.close(0));
  const [replica] = gateway.replicas();
  let looks = 0;
  Object.defineProperty(replica!, 'state', {
    get() {
      looks++;
      return 'ready';
    },
  });
  const clock = { ms: 0 };
  const seen = { endpoints: gateway.endpoints, fleet: gateway.fleet, nowMs: () => clock.ms };
  /** What the first look shows. */
  const first = async (isWanted: boolean): Promise<ReplicaChange | undefined> => {
    const leaving = new AbortController();
    const change = followReplicas(seen, () => isWanted, leaving.signal).next();
    leaving.abort();
    return (await change).value as ReplicaChange | undefined;
  };
  expect(await first(false)).toBeUndefined();
  expect(looks).toBe(0);
  for (let stream = 0; stream < 20; stream++) expect(await first(true)).toMatchObject({ type: 'listed' });
  expect(looks).toBe(1);
  clock.ms = 1000;
  await first(true);
  expect(looks).toBe(2);
});
