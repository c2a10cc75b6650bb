import { beforeEach, describe, expect, it } from 'vitest';
import { ask, CHAT, ENDPOINTS, endpoint, exchange, runner, streamOf, withFakeApi } from '../fake-api.fixture.js';

withFakeApi();

async function collected(stream: AsyncIterable<string>): Promise<string[]> {
  const items: string[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe('logs', () => {
  const lineOf = (replica: string, line: string, position?: string) =>
    `event: line\ndata: ${JSON.stringify({ replica, line, position })}\n\n`;
  const END = 'event: end\ndata: {}\n\n';

  beforeEach(async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    runner.start('chat-a', 'default/chat', 'one', 'two');
    runner.start('chat-b', 'default/chat', 'three');
    runner.start('other', 'default/other', 'not ours');
  });

  it('are those of all replicas of the endpoint, or of one', async () => {
    const all = async (path: string) => (await collected(await streamOf(path))).join('');
    expect(await all(`${CHAT}/logs`)).toBe(
      lineOf('chat-a', 'one') + lineOf('chat-a', 'two') + lineOf('chat-b', 'three') + END,
    );
    expect(await all(`${CHAT}/logs?replica=chat-a&tail=1`)).toBe(lineOf('chat-a', 'two') + END);
  });

  it('are refused for replicas that are not its own, and for bad numbers', async () => {
    expect(await ask(`GET ${CHAT}/logs?replica=other`)).toMatchObject({
      status: 404,
      body: { error: { code: 'API_REPLICA', hint: 'known: chat-a, chat-b' } },
    });
    for (const id of ['chat-a', 'chat-b']) runner.forget(id);
    expect((await ask(`GET ${CHAT}/logs?replica=chat-a`)).body.error.hint).toBe('the endpoint has none at present');
    expect((await ask(`GET ${CHAT}/logs?tail=many`)).status).toBe(400);
    for (const query of [
      'tail=-2',
      'since=soon',
      'after=chat-a',
      'previous=true&since=1s',
      'previous=true&after=chat-a=1',
    ]) {
      expect((await ask(`GET ${CHAT}/logs?${query}`)).status).toBe(400);
    }
    expect((await ask(`GET ${CHAT}/logs?follow=maybe`)).status).toBe(400);
    expect((await ask(`GET ${ENDPOINTS}/none/logs`)).status).toBe(404);
  });

  it('are followed, including those of replicas that start later, until the reader disconnects', async () => {
    const left = new AbortController();
    const events = (await streamOf(`${CHAT}/logs?follow=true&tail=0`, left.signal))[Symbol.asyncIterator]();
    const next = events.next();
    runner.start('chat-c', 'default/chat', 'hello');
    runner.start('other-b', 'default/other', 'not ours');
    expect((await next).value).toBe(lineOf('chat-c', 'hello', '1'));
    runner.write('chat-a', 'more');
    expect((await events.next()).value).toBe(lineOf('chat-a', 'more', '3'));
    left.abort();
    expect((await events.next()).value).toBe(END);
    expect((await events.next()).done).toBe(true);
    expect(runner.listeners).toBe(0);
  });

  it('continue behind given positions', async () => {
    const left = new AbortController();
    const stream = await streamOf(`${CHAT}/logs?follow=true&after=chat-a=1,gone=7&since=1h`, left.signal);
    const events = stream[Symbol.asyncIterator]();
    expect((await events.next()).value).toBe(lineOf('chat-a', 'two', '2'));
    expect((await events.next()).value).toBe(lineOf('chat-b', 'three', '1'));
    left.abort();
    expect((await events.next()).value).toBe(END);
  });

  it('of a replica that goes on do not end when its runner is closed', async () => {
    const left = new AbortController();
    const open = Object.assign(Object.create(runner), {
      async *logs() {
        yield 'last line that was read';
      },
      list: () => runner.list(),
      watch: () => () => {},
    });
    exchange({ runner: open });
    const events = (await streamOf(`${CHAT}/logs?follow=true&replica=chat-a`, left.signal))[Symbol.asyncIterator]();
    expect((await events.next()).value).toBe(lineOf('chat-a', 'last line that was read'));
    const next = events.next();
    expect(await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 20, 'open'))])).toBe('open');
    left.abort();
    await next;
  });

  it('are those of the replica that ended last with previous', async () => {
    expect(await ask(`GET ${CHAT}/logs?previous=true`)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('no replica of the endpoint has ended') } },
    });
    runner.exit('chat-a');
    expect(await collected(await streamOf(`${CHAT}/logs?previous=true&tail=1`))).toEqual([
      lineOf('chat-a', 'two'),
      END,
    ]);
    expect(await ask(`GET ${CHAT}/logs?previous=true&replica=chat-b`)).toMatchObject({
      status: 404,
      body: { error: { hint: expect.stringContaining('known: chat-a') } },
    });
  });

  it('end with the selected replica, and with the endpoint', async () => {
    const one = streamOf(`${CHAT}/logs?follow=true&replica=chat-b`).then(collected);
    runner.exit('chat-b');
    expect(await one).toEqual([lineOf('chat-b', 'three', '1'), END]);
    const all = streamOf(`${CHAT}/logs?follow=true&tail=1`).then(collected);
    await ask(`DELETE ${CHAT}`);
    runner.exit('chat-a');
    expect(await all).toEqual([lineOf('chat-a', 'two', '2'), lineOf('chat-b', 'three', '1'), END]);
  });

  it('pass over a replica that is forgotten meanwhile, and hide no bug', async () => {
    const stream = await streamOf(`${CHAT}/logs`);
    runner.forget('chat-a');
    expect(await collected(stream)).toEqual([lineOf('chat-b', 'three'), END]);
    exchange({
      runner: Object.assign(Object.create(runner), {
        // biome-ignore lint/correctness/useYield: it breaks before
        async *logs() {
          throw new TypeError('a bug');
        },
        list: () => runner.list(),
        watch: () => () => {},
      }),
    });
    for (const query of ['', '?follow=true']) {
      await expect(collected(await streamOf(`${CHAT}/logs${query}`))).rejects.toThrow('a bug');
    }
  });
});
