import { expect, test } from 'vitest';
import { FakeTiming, settled } from '../fake-timing.fixture.js';
import { type Work, WorkQueue } from './work-queue.js';

function queueOf(work: Work) {
  const timing = new FakeTiming();
  const failed: [string, string, number][] = [];
  const onFailure = (key: string, error: unknown, failures: number) =>
    failed.push([key, (error as Error).message, failures]);
  return { timing, failed, queue: new WorkQueue({ timing, work, onFailure }) };
}

test('has one run per key at a time, and one more for all additions meanwhile', async () => {
  const ends: (() => void)[] = [];
  let most = 0;
  const { queue } = queueOf(async () => {
    most = Math.max(most, ends.length);
    await new Promise<void>((resolve) => ends.push(resolve));
    return null;
  });
  queue.add('a');
  for (let i = 0; i < 5; i++) queue.add('a');
  expect(ends).toHaveLength(1);
  ends[0]!();
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]!();
  await settled();
  expect([ends.length, most]).toEqual([2, 1]);
});

test('keys do not wait for each other', async () => {
  const begun: string[] = [];
  const { queue } = queueOf((key) => {
    begun.push(key);
    return new Promise(() => {});
  });
  queue.add('a');
  queue.add('b');
  expect(begun).toEqual(['a', 'b']);
});

test('runs again after the requested time, or earlier when the key is added', async () => {
  let runs = 0;
  const { queue, timing } = queueOf(async () => {
    runs++;
    return 1000;
  });
  queue.add('a');
  await settled();
  await timing.pass(600);
  queue.add('a');
  await settled();
  expect(runs).toBe(2);
  await timing.pass(999);
  expect(runs).toBe(2);
  await timing.pass(1);
  expect(runs).toBe(3);
});

test('retries failures with a back-off, which a success resets', async () => {
  const times: number[] = [];
  const clock: { now?: () => number } = {};
  const { failed, queue, timing } = queueOf(async () => {
    times.push(clock.now!());
    if (times.length !== 4) throw new Error('no');
    return 500;
  });
  clock.now = () => timing.now();
  queue.add('a');
  await settled();
  await timing.pass(8500);
  expect(times.map((time) => time - times[0]!)).toEqual([0, 1000, 3000, 7000, 7500, 8500]);
  expect(failed.map(([, , failures]) => failures)).toEqual([1, 2, 3, 1, 2]);
});

test('an addition during a failing run does not skip the back-off', async () => {
  let runs = 0;
  const { queue, timing } = queueOf(async () => {
    runs++;
    queue.add('a');
    throw new Error('no');
  });
  queue.add('a');
  await settled();
  expect(runs).toBe(1);
  await timing.pass(1000);
  expect(runs).toBe(2);
});

test('closes when current runs have ended, and starts no other', async () => {
  const ends: (() => void)[] = [];
  const { queue, timing } = queueOf(async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return 10;
  });
  queue.add('a');
  queue.add('a');
  let isClosed = false;
  const closed = queue.close().then(() => {
    isClosed = true;
  });
  await settled();
  expect(isClosed).toBe(false);
  ends[0]!();
  await closed;
  queue.add('b');
  await timing.pass(100);
  expect(ends).toHaveLength(1);
});

test('starts no more than 64 of thousands of keys at once, and all of them in the end', async () => {
  let [running, most, ended] = [0, 0, 0];
  const { queue } = queueOf(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    ended++;
    return null;
  });
  for (let i = 0; i < 1000; i++) queue.add(`k${i}`);
  await queue.ended(() => true);
  expect([most, ended]).toEqual([64, 1000]);
});
