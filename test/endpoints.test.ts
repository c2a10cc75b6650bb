import { expect, test } from 'vitest';
import { randomStream } from '../src/kernel/random-stream.js';
import { ConstantLoad } from './support/constant-load.js';
import { EndpointYard } from './support/endpoint-yard.js';
import { question } from './support/engine-fixture.js';
import { Clients, expectResponseed, isServed } from './support/gateway-load.js';

const others = (ids: readonly string[], before: readonly string[]) => ids.filter((id) => !before.includes(id));

test('an endpoint is created, scaled, updated, disturbed and deleted under load, and no client sees an error', async () => {
  const yard = new EndpointYard();
  await yard.start();
  const three = await yard.untilRunning(await yard.declare({ replicas: 3, seed: 1 }));
  expect(three).toHaveLength(3);
  const clients = new Clients(`${yard.serve.url}/workspace/default/endpoint/chat`);
  const load = new ConstantLoad(clients, randomStream(9, 'constant load'), 6);
  await load.more(20);

  const five = await yard.untilRunning(await yard.declare({ replicas: 5, seed: 1 }));
  expect([five.length, others(three, five)]).toEqual([5, []]);
  await load.more(20);

  const updated = await yard.declare({ replicas: 5, seed: 2 });
  const renewed = await yard.untilRunning(updated);
  expect([renewed.length, others(renewed, five).length]).toEqual([5, 5]);
  await load.more(20);

  await load.withoutStreams();
  const [victim] = renewed;
  await yard.killReplica(victim!);
  let healed = renewed;
  while (healed.includes(victim!)) healed = await yard.untilRunning(updated);
  expect([healed.length, others(healed, renewed).length]).toEqual([5, 1]);
  load.streams = true;
  await load.more(20);

  const one = await yard.untilRunning(await yard.declare({ replicas: 1, seed: 2 }));
  expect([one.length, others(one, healed)]).toEqual([1, []]);
  expect((await yard.processes()).map(({ replica }) => replica)).toEqual(one);
  await load.more(20);

  await load.end();

  // Streams that have begun when it is deleted complete.
  const body = JSON.stringify({ ...question('at length', { max_tokens: 60, stream: true }), model: 'tiny' });
  const path = '/workspace/default/endpoint/chat/v1/chat/completions';
  const ask = () => fetch(yard.serve.url + path, { method: 'POST', body });
  const streams = await Promise.all([ask(), ask(), ask()]);
  await yard.delete();
  for (const stream of streams) expect(await stream.text()).toMatch(/data: \[DONE\]\n\n$/);
  await yard.untilGone();
  expect(await yard.processes()).toEqual([]);
  expect((await ask()).status).toBe(404);

  expect(load.ended.length).toBeGreaterThan(100);
  for (const response of load.ended) {
    expectResponseed(response);
    expect(isServed(response), response.text).toBe(true);
  }
});
