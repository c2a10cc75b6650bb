import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { BodyTurns, LONGEST_IN_TURN_MS, MOST_IN_TURN } from './body-turns.js';
import { port, reply } from './http-port.fixture.js';

it('a connection takes no more of a body in a turn than the limit and what the socket has read ahead', async () => {
  let inTurn = 0;
  let most = 0;
  let turns = 0;
  const { listener } = await port((request, response) => {
    let before = 0;
    request.collect(
      20_000_000,
      () => reply(response, 'ok'),
      (_, length) => {
        if (inTurn === 0) {
          turns++;
          setImmediate(() => {
            inTurn = 0;
          });
        }
        inTurn += length - before;
        before = length;
        most = Math.max(most, inTurn);
        return null;
      },
    );
  });
  const { hostname, port: number } = new URL(listener.url);
  const client = connect(Number(number), hostname);
  const body = Buffer.alloc(16_000_000, 'a');
  client.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n`);
  client.write(body);
  const text = await new Promise<string>((resolve) => client.once('data', (bytes) => resolve(bytes.toString())));
  client.destroy();
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  // Without it one turn takes up to 32 reads of 64 KiB.
  expect(most).toBeLessThanOrEqual(2 * MOST_IN_TURN + 64 * 1024);
  expect(turns).toBeGreaterThanOrEqual(16_000_000 / (2 * MOST_IN_TURN + 64 * 1024));
});

it('a socket that was paused for another reason, or is gone, is not resumed', async () => {
  for (const [mayResume, destroyed, resumed] of [
    [true, false, 1],
    [false, false, 0],
    [true, true, 0],
  ] as const) {
    const calls = { pause: 0, resume: 0 };
    const socket = { destroyed, pause: () => calls.pause++, resume: () => calls.resume++ };
    const turns = new BodyTurns(socket as never, () => mayResume);
    turns.took(MOST_IN_TURN - 1);
    expect(calls.pause).toBe(0);
    turns.took(1);
    turns.took(MOST_IN_TURN);
    expect(calls).toEqual({ pause: 1, resume: 0 });
    await new Promise(setImmediate);
    expect(calls).toEqual({ pause: 1, resume: resumed });
  }
});

it('a connection whose bytes take long to read waits a turn after fewer of them', async () => {
  let paused = 0;
  let nowMs = 1;
  const socket = { destroyed: false, pause: () => paused++, resume: () => {} };
  const turns = new BodyTurns(
    socket as never,
    () => true,
    () => nowMs,
  );
  const read = () => {
    turns.begin(10_000);
    nowMs += LONGEST_IN_TURN_MS / 2;
    turns.took(10_000);
  };
  read();
  expect(paused).toBe(0);
  read();
  expect(paused).toBe(1);
  await new Promise(setImmediate);
  read();
  expect(paused).toBe(1);
});
