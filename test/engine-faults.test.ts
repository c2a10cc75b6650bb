import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../src/emulator/virtual-clocks.fixture.js';
import { fakeEngine, post, question, reply, until } from './support/engine-fixture.js';

const CHAT = '/v1/chat/completions';

describe('faults', () => {
  test('fail at the configured rate, the same way each time', async () => {
    const statuses = async () => {
      const engine = await fakeEngine({ faults: { failRate: 0.5 }, seed: 3 });
      const list: number[] = [];
      for (let i = 0; i < 20; i++) list.push((await post(engine, CHAT, question('x', { max_tokens: 1 }))).status);
      return list;
    };
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([200, 500]));
    expect(await statuses()).toEqual(first);
  });

  test('hang until the client disconnects', async () => {
    const engine = await fakeEngine({ faults: { hangRate: 1 } });
    const leaving = new AbortController();
    const hung = post(engine, CHAT, question('x'), { signal: leaving.signal }).catch((error: Error) => error.name);
    await until(() => engine.stats().inFlight === 1);
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
    leaving.abort();
    expect(await hung).toBe('AbortError');
    await until(() => engine.stats().inFlight === 0);
  });

  test('reset a connection in the middle of a stream, or before a complete response', async () => {
    const engine = await fakeEngine({ faults: { disconnectRate: 1 } });
    const stream = await post(engine, CHAT, question('x', { max_tokens: 50, ignore_eos: true, stream: true }));
    expect(stream.status).toBe(200);
    await expect(stream.text()).rejects.toThrow();
    await expect(post(engine, CHAT, question('x', { max_tokens: 50 }))).rejects.toThrow();
    await expect(post(engine, '/v1/embeddings', { model: 'tiny', input: 'x' })).rejects.toThrow();
    await until(() => engine.stats().inFlight === 0);
    expect(engine.stats()).toMatchObject({ running: 0, waiting: 0, usedBlocks: 0 });
  });

  test('slow it down', async () => {
    const timeOf = async (slowFactor: number) => {
      const clock = new ManualClock();
      const engine = await fakeEngine({ clock });
      engine.faults({ slowFactor });
      const answer = post(engine, CHAT, question('x', { max_tokens: 3 }));
      await until(() => engine.stats().inFlight === 1);
      // 100 us until it is queued.
      let at = 100;
      while (engine.stats().tokensOut < 3) clock.runTo(at++);
      clock.runTo(1e6);
      await answer;
      return at - 100;
    };
    expect((await timeOf(3)) / (await timeOf(1))).toBeCloseTo(3, 0);
  });

  test('freeze it, and thaw it again', async () => {
    const engine = await fakeEngine();
    engine.faults({ frozen: true });
    const health = fetch(`${engine.url}/health`);
    const answer = post(engine, CHAT, question('x', { max_tokens: 3 }));
    const leaving = new AbortController();
    const gone = post(engine, CHAT, question('x'), { signal: leaving.signal }).catch((error: Error) => error.name);
    await until(() => engine.stats().inFlight === 3);
    leaving.abort();
    expect(await gone).toBe('AbortError');
    await until(() => engine.stats().inFlight === 2);
    const settings = await (await fetch(`${engine.url}/admin/faults`)).json();
    expect(settings).toMatchObject({ frozen: true });
    await post(engine, '/admin/faults', { frozen: false });
    expect([(await health).status, (await answer).status]).toEqual([200, 200]);
    expect(engine.stats()).toMatchObject({ running: 0, waiting: 0 });
  });

  test('are set from outside, one by one', async () => {
    const engine = await fakeEngine();
    const changed = await post(engine, '/admin/faults', { fail_rate: 1 });
    expect(await changed.json()).toEqual({
      fail_rate: 1,
      hang_rate: 0,
      disconnect_rate: 0,
      slow_factor: 1,
      frozen: false,
    });
    expect((await post(engine, CHAT, question('x'))).status).toBe(500);
    expect((await post(engine, '/tokenize', { prompt: 'x' })).status).toBe(200);
    await post(engine, '/admin/faults', { fail_rate: 0 });
    expect((await post(engine, CHAT, question('x', { max_tokens: 1 }))).status).toBe(200);
    expect((await post(engine, '/admin/faults', { fire: 1 })).status).toBe(400);
  });

  test('are not set from another machine', async ({ skip }) => {
    const address = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    skip(address === undefined, 'this machine has no address but loopback');
    const { port } = await fakeEngine({ host: '0.0.0.0' });
    const response = await fetch(`http://${address}:${port}/admin/faults`);
    expect([response.status, (await reply(response)).error.type]).toEqual([403, 'ForbiddenError']);
    expect((await fetch(`http://${address}:${port}/health`)).status).toBe(200);
  });
});

describe('starting and stopping', () => {
  test('nothing is ready before its time', async () => {
    const clock = new ManualClock();
    const engine = await fakeEngine({ clock, startupUs: 5_000_000 });
    expect((await fetch(`${engine.url}/health`)).status).toBe(503);
    expect((await post(engine, CHAT, question('x'))).status).toBe(503);
    expect((await fetch(`${engine.url}/admin/faults`)).status).toBe(200);
    clock.runTo(5_000_000);
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
  });

  test('requests under way may end before it closes', async () => {
    const clock = new ManualClock();
    const engine = await fakeEngine({ clock });
    const answer = post(engine, CHAT, question('x', { max_tokens: 3, stream: true }));
    await until(() => engine.stats().inFlight === 1);
    const closed = engine.close(60_000);
    clock.runTo(1e6);
    expect(await (await answer).text()).toContain('[DONE]');
    await closed;
    await expect(fetch(`${engine.url}/health`)).rejects.toThrow();
  });

  test('or are aborted', async () => {
    const engine = await fakeEngine({ faults: { hangRate: 1 } });
    const hung = post(engine, CHAT, question('x')).catch(() => 'broken');
    await until(() => engine.stats().inFlight === 1);
    const slow = engine.close(60_000);
    await engine.close();
    await slow;
    expect(await hung).toBe('broken');
  });

  test('several run in one process', async () => {
    const engines = await Promise.all([fakeEngine({ modelName: 'a' }), fakeEngine({ modelName: 'b' })]);
    const names = await Promise.all(
      engines.map(async ({ url }) => (await reply(fetch(`${url}/v1/models`))).data[0]!.id),
    );
    expect(names).toEqual(['a', 'b']);
    expect(engines[0].port).not.toBe(engines[1].port);
  });

  test('a port in use or a foreign address is an input error', async () => {
    const { port } = await fakeEngine();
    await expect(fakeEngine({ port })).rejects.toMatchObject({ code: 'PORT_TAKEN', place: '--port' });
    await expect(fakeEngine({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'ADDRESS_REFUSED', place: '--host' });
    const six = await fakeEngine({ host: '::1' }).catch(() => null);
    if (six !== null) expect(six.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  });
});
