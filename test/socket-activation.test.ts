import { expect, test } from 'vitest';
import { fakeEngine } from './support/engine-fixture.js';
import { KeptSocket } from './support/kept-socket.js';

test('with a socket that outlives it, a killed or restarted server refuses no connection and no request', async () => {
  const engine = await fakeEngine();
  const socket = new KeptSocket();
  const args = ['--replica', engine.url];
  const { data } = (await (await fetch(`${engine.url}/v1/models`)).json()) as { data: { id: string }[] };
  const model = data[0]!.id;
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 });
  const ask = async () => {
    const response = await fetch(`${socket.url}/v1/chat/completions`, { method: 'POST', body });
    await response.text();
    return response.status;
  };
  const first = await socket.serve(args);
  expect(first.said.join('\n')).toContain(`serving on ${socket.url}`);
  expect(await ask()).toBe(200);

  first.child.kill('SIGKILL');
  await first.ended;
  // Sent while no server runs: the connection waits in the socket's queue.
  const waiting = [ask(), ask()];
  const second = await socket.serve(args);
  expect(await Promise.all(waiting)).toEqual([200, 200]);

  let isOver = false;
  const client = async () => {
    const statuses = new Set<number>();
    while (!isOver) statuses.add(await ask());
    return [...statuses];
  };
  const clients = [client(), client()];
  second.child.kill('SIGTERM');
  await second.ended;
  await socket.serve(args);
  expect(await ask()).toBe(200);
  isOver = true;
  expect(await Promise.all(clients)).toEqual([[200], [200]]);
});
