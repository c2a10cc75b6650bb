import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  askAgain,
  event,
  type FakeRequest,
  type FakeServer,
  fakePlan,
  fakeServer,
  json,
  piece,
  sendStream,
  stream,
  TOY_OPTIONS,
} from './fake-server.fixture.js';
import type { Observation, ObserveOptions } from './observation.js';
import { observe } from './observe.js';

function observed(server: FakeServer, count: number, options: Partial<ObserveOptions> = {}): Promise<Observation> {
  return observe(fakePlan(count), { url: server.url, model: 'tiny' }, { ...TOY_OPTIONS, ...options });
}

/** The problem that a faulty response is recorded as. */
async function problem(answer: (request: FakeRequest, response: ServerResponse) => void, timeoutUs = 30e6) {
  const server = await fakeServer(answer);
  const { document, trace } = await observed(server, 1, { timeoutUs });
  const { sent } = trace!.observed!;
  return { class: sent!.problem[0]!, message: sent!.message[0]!, completed: document.requests.completed };
}

/** Tries longer and longer time-outs until one suffices, on this machine, for what comes before the fault. */
async function hastily<Found>(
  attempt: (timeoutUs: number) => Promise<Found>,
  isReached: (found: Found) => boolean,
): Promise<{ found: Found; within: string }> {
  for (let timeoutUs = 40_000; ; timeoutUs *= 5) {
    const found = await attempt(timeoutUs).catch((error: Error) => {
      if (!error.message.includes('the list of models: no response')) throw error;
      return null;
    });
    if (found !== null && isReached(found)) return { found, within: `${timeoutUs / 1e6} s` };
  }
}

describe('a server that cannot be measured is a failed run', () => {
  it('refuses', async () => {
    const server = await fakeServer(() => {});
    await server.close();
    await expect(observed(server, 1)).rejects.toMatchObject({
      code: 'SERVER_FAILS',
      message: `${server.url}: the list of models: no connection (ECONNREFUSED); start the server, or give the address it listens on`,
    });
  });

  it('hangs before it lists its models', async () => {
    const server = await fakeServer(() => {}, { '/v1/models': () => {} });
    await expect(observed(server, 1, { timeoutUs: 50_000 })).rejects.toThrow(
      'no response from /v1/models within 0.05 s',
    );
  });

  it('hangs at the first completion', async () => {
    const server = await fakeServer(() => {}, { '/v1/completions': () => {} });
    const failure = (timeoutUs: number) =>
      observed(server, 1, { timeoutUs }).then(String, (error: Error) => error.message);
    const { found } = await hastily(failure, (message) => !message.includes('the list of models'));
    expect(found).toContain('a first request: no response');
  });

  it('requires a key', async () => {
    const server = await fakeServer(() => {}, { '/v1/models': (_, response) => json(response, {}, 401) });
    await expect(observed(server, 1)).rejects.toThrow('status 401: {}; give --api-key, or set TWINYARD_API_KEY');
  });

  it('closes the connection', async () => {
    const server = await fakeServer(() => {}, { '/v1/models': (_, response) => response.destroy() });
    await expect(observed(server, 1)).rejects.toThrow('the connection was closed');
  });

  it('refuses every request', async () => {
    const answers = {
      '/v1/completions': (_: FakeRequest, response: ServerResponse) =>
        json(response, { error: { message: 'no room' } }, 503),
    };
    const server = await fakeServer(() => {}, answers);
    await expect(observed(server, 1)).rejects.toThrow('a first request: status 503: no room');
  });

  it('serves another model', async () => {
    const server = await fakeServer(() => {});
    const asked = observe(fakePlan(1), { url: server.url, model: 'tony' }, TOY_OPTIONS);
    await expect(asked).rejects.toMatchObject({ code: 'MODEL_NOT_SERVED', hint: "did you mean 'tiny'? known: tiny" });
  });
});

describe('a faulty response is recorded by its problem', () => {
  it('an error of HTTP', async () => {
    const found = await problem((_, response) => json(response, { error: { message: 'too\nbusy', type: 'x' } }, 429));
    expect(found).toEqual({ class: 'http_429', message: 'status 429: too busy', completed: 0 });
  });

  it('an HTTP error without JSON', async () => {
    const found = await problem((_, response) => response.writeHead(502).end(`<html>${'x'.repeat(9000)}`));
    expect(found.message).toMatch(/^status 502: <html>x+\.\.\.$/);
  });

  it('nothing at all', async () => {
    const { found, within } = await hastily(
      (timeoutUs) => problem(() => {}, timeoutUs),
      () => true,
    );
    expect(found).toEqual({ class: 'hang', message: `no response within ${within}`, completed: 0 });
  });

  it('a response that stalls', async () => {
    const { found, within } = await hastily(
      (timeoutUs) => problem((_, response) => response.writeHead(200).write(piece(' a')), timeoutUs),
      // The chunk came before the time was up.
      ({ class: of }) => of !== 'hang',
    );
    expect(found).toMatchObject({ class: 'timeout', completed: 0 });
    expect(found.message).toBe(`the response was not complete within ${within}, after 1 chunks`);
  });

  it('a connection that is closed at once', async () => {
    const found = await problem((_, response) => response.socket!.destroy());
    expect(found).toMatchObject({ class: 'cut', completed: 0 });
  });

  it('a connection that is cut in the middle of the response', async () => {
    const found = await problem((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(piece(' a'), () => response.socket!.destroy());
    });
    expect(found).toMatchObject({ class: 'cut', completed: 0 });
  });

  it('a stream that ends early', async () => {
    const found = await problem((_, response) => sendStream(response, piece(' a') + piece(' b')));
    expect(found.message).toBe('the stream ended after 2 chunks, before it was complete');
  });

  it.each([
    ['an event that is not JSON', `${piece(' a')}data: {"choices": [\n\n`],
    ['an event of another shape', 'data: [1]\n\n'],
    ['choices that are not a list', event({ choices: {} })],
    ['an event without content', event({ id: 'x' })],
    ['no event', 'hello'],
  ])('%s', async (_, text) => {
    expect(await problem((__, response) => sendStream(response, text))).toMatchObject({
      class: 'malformed',
      completed: 0,
    });
  });

  it('malformed HTTP', async () => {
    const found = await problem((_, response) => response.socket!.end('HTTP/1.1 nonsense\r\n\r\n'));
    expect(found).toMatchObject({ class: 'malformed', completed: 0 });
  });

  it('an error in the stream', async () => {
    const found = await problem((_, response) => sendStream(response, event({ error: { message: 'out of memory' } })));
    expect(found).toMatchObject({ class: 'server_error', message: 'the server reports an error: out of memory' });
  });

  it('no usage: complete, but of unknown length', async () => {
    const found = await problem((_, response) =>
      sendStream(response, `${piece(' a')}${piece(' a', 'stop')}data: [DONE]\n\n`),
    );
    expect(found).toMatchObject({ class: 'no_usage', completed: 1 });
  });

  it('other token counts than requested: still complete', async () => {
    const found = await problem((request, response) => sendStream(response, stream(request, 2)));
    expect(found).toEqual({ class: 'other_tokens', message: '2 output tokens instead of 3', completed: 1 });
  });

  it('a complete response whose connection is cut after it', async () => {
    const found = await problem((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream(request), () => response.socket!.destroy());
    });
    expect(found).toEqual({ class: '', message: '', completed: 1 });
  });

  it('without a requested length any length will do', async () => {
    const server = await fakeServer((request, response) => sendStream(response, stream(request, 2)));
    const { document, trace } = await observed(server, 1, { constrained: false });
    expect(document.requests.problems).toEqual({});
    expect(trace!.table.outputTokens[0]).toBe(2);
    expect(server.requests[0]!.body).toMatchObject({ max_tokens: 980 });
    expect(server.requests[0]!.body).not.toHaveProperty('min_tokens');
  });
});

describe('a server that breaks down', () => {
  it('loses nothing that was measured before', async () => {
    const server = await fakeServer((request, response, n) => {
      if (n < 2) {
        sendStream(response, stream(request));
        return;
      }
      server.refuse();
      response.socket!.destroy();
    });
    const plan = askAgain(fakePlan(1), 4);
    const { document, trace } = await observe(plan, { url: server.url, model: 'tiny' }, TOY_OPTIONS);
    expect(document.requests).toMatchObject({ recorded: 4, completed: 2, problems: { cut: 1, refused: 1 } });
    expect([...trace!.observed!.outcome]).toEqual([0, 0, 2, 2]);
  });

  it('is not sent requests without a pause by clients that wait for responses', async () => {
    const server = await fakeServer((request, response) => {
      server.refuse();
      sendStream(response.setHeader('connection', 'close'), stream(request));
    });
    const plan = askAgain(fakePlan(1), 3);
    const { document, trace } = await observe(plan, { url: server.url, model: 'tiny' }, TOY_OPTIONS);
    expect(document.requests).toMatchObject({ sent: 3, completed: 1, problems: { refused: 2 } });
    const [, first, second] = trace!.wantedUs;
    expect(second! - first!).toBeGreaterThanOrEqual(100_000);
    expect(trace!.table.round.subarray(0, 3)).toEqual(Int32Array.of(0, 1, 2));
  });
});
