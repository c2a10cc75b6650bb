import { expect, test } from 'vitest';
import { type RandomStream, randomStream } from '../src/kernel/random-stream.js';
import { type DeclaredEndpoint, EndpointYard, isSettled } from './support/endpoint-yard.js';

/** The desired states, one after the other; null: none. */
const SCRIPT: readonly (DeclaredEndpoint | 'hit' | null)[] = [
  { replicas: 3, seed: 1 },
  { replicas: 5, seed: 1 },
  { replicas: 5, seed: 2 },
  'hit',
  { replicas: 1, seed: 2 },
  null,
];

const MOST_KILLS = 3;

/**
 * Lets the control plane run until a random number of changes have happened, or all is done; then kills it in the middle of the
 * next.
 */
async function killSoon(yard: EndpointYard, random: RandomStream): Promise<void> {
  let changes = random.below(10);
  for (let last = ''; changes >= 0; ) {
    const { metadata, status } = (await yard.endpoint()) ?? {};
    if (status === undefined || isSettled(metadata!.generation, status)) break;
    const now = JSON.stringify(status.replicas);
    if (now !== last) changes--;
    last = now;
  }
  for (let looks = random.below(5); looks > 0; looks--) await yard.endpoint();
  await yard.killServe();
  await yard.start();
}

test('a control plane that is killed at any point resumes, and leaves no process behind', async () => {
  const yard = new EndpointYard();
  const random = randomStream(15, 'moments to be killed at');
  await yard.start();
  let generation = 0;
  let before: string[] = [];
  for (const wanted of SCRIPT) {
    if (wanted === null) await yard.delete();
    else if (wanted === 'hit') await yard.killReplica(before[0]!);
    else generation = await yard.declare(wanted);
    for (let kills = 1 + random.below(MOST_KILLS); kills > 0; kills--) await killSoon(yard, random);
    if (wanted === null) break;
    let ids = await yard.untilRunning(generation);
    while (wanted === 'hit' && ids.includes(before[0]!)) ids = await yard.untilRunning(generation);
    if (wanted !== 'hit') expect(ids).toHaveLength(wanted.replicas);
    const running = new Set((await yard.processes()).map(({ replica }) => replica));
    expect([...running].sort()).toEqual(ids);
    before = ids;
  }
  await yard.untilGone();
  expect(await yard.processes()).toEqual([]);
}, 180_000);
