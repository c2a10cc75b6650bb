import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { sourceIdOf } from '../../workload/request-table.js';
import { writeTrace } from '../../workload/trace-v2/write.js';
import {
  askAgain,
  type FakeRequest,
  type FakeServer,
  fakePlan,
  fakeServer,
  json,
  sendStream,
  stream,
  TOY_OPTIONS,
  whole,
} from './fake-server.fixture.js';
import type { Observation, ObserveOptions, ObservePlan, ObserveProgress } from './observation.js';
import { observe } from './observe.js';
import { MachineClock } from './send/send-clock.js';

const answer = (request: FakeRequest, response: ServerResponse) => sendStream(response, stream(request));

function observed(
  server: FakeServer,
  plan: ObservePlan,
  options: Partial<ObserveOptions> = {},
  progress: ((now: ObserveProgress) => void) | null = null,
  signal?: AbortSignal,
): Promise<Observation> {
  return observe(plan, { url: server.url, model: 'tiny' }, { ...TOY_OPTIONS, ...options }, progress, signal);
}

describe('what is sent', () => {
  it('is as long as planned, with its tenant and priority', async () => {
    const server = await fakeServer(answer);
    const plan = fakePlan(2, (table) => {
      table.sloClass[1] = table.sloClasses.index('critical');
      table.tenant[1] = table.tenants.index('Büro 1');
      table.model[1] = table.models.index('tiny-lora');
      table.sloTargetUs[1] = 250_000;
    });
    const { trace } = await observed(server, plan, { salt: 36, maxConcurrency: 1 });
    const [plain, classed] = server.requests;
    expect(plain!.path).toBe('/v1/completions');
    expect(plain!.body).toEqual({
      ...{ model: 'tiny', max_tokens: 3, min_tokens: 3, ignore_eos: true },
      prompt: expect.stringMatching(/^( [a-z]{3}){20}$/),
      ...{ stream: true, stream_options: { include_usage: true } },
    });
    expect(plain!.headers['x-request-id']).toBe('10-request_0');
    expect(plain!.headers).not.toHaveProperty('x-gateway-inference-objective');
    expect(classed!.body).toMatchObject({ model: 'tiny-lora', priority: 7 });
    expect(classed!.headers).toMatchObject({
      ...{ 'x-request-id': '10-request_1', 'x-slo-ttft-ms': '250' },
      ...{ 'x-gateway-inference-objective': 'critical', 'x-gateway-inference-fairness-id': 'B%C3%BCro%201' },
    });
    expect(trace!.observed!.sent!.xRequestId).toEqual(['10-request_0', '10-request_1']);
    expect([...writeTrace(trace!).data].join('')).toContain('\n1,,Büro 1,critical,7,,0,,0,true,20,3,');
  });

  it('is another text in every run', async () => {
    const server = await fakeServer(answer);
    await observed(server, fakePlan(1));
    await observed(server, fakePlan(1));
    expect(server.requests[0]!.body.prompt).not.toBe(server.requests[1]!.body.prompt);
  });

  it('supports chat completions, and responses without streaming', async () => {
    const server = await fakeServer(({ body }, response) => {
      const choice = { index: 0, message: { content: 'hi' }, finish_reason: 'stop' };
      json(response, { choices: [choice], usage: { prompt_tokens: 20, completion_tokens: body.max_tokens } });
    });
    const { document, trace } = await observed(server, fakePlan(1), { apiFormat: 'chat', streaming: false });
    expect(server.requests.at(-1)!.path).toBe('/v1/chat/completions');
    expect(server.requests.at(-1)!.body).toMatchObject({ messages: [{ role: 'user' }] });
    expect(server.requests.at(-1)!.body).not.toHaveProperty('stream');
    expect(document).toMatchObject({ ttft_mean_ms: 0, requests: { completed: 1 } });
    expect(trace!.observed!.ttftUs[0]).toBe(trace!.observed!.e2eUs[0]);
    expect([...writeTrace(trace!).data].join('')).toContain(',false,20,3,');
  });
});

describe('what is recorded', () => {
  it('is every request with its times and counts', async () => {
    const server = await fakeServer(answer);
    const plan = fakePlan(5, (table) => {
      table.deadlineUs[2] = table.arrivalUs[2]! + 5e6;
    });
    const { document, epochUs, trace } = await observed(server, plan);
    expect(document.requests).toEqual({
      ...{ planned: 5, sent: 5, warm_up: 0, recorded: 5, completed: 5, failed: 0 },
      problems: {},
    });
    expect(document.server).toEqual({ url: server.url, model: 'tiny', max_model_len: 1000 });
    expect(document).toMatchObject({ total_input_tokens: 100, total_output_tokens: 15, partial: null, late: null });
    expect(document.prompts).toMatchObject({ counted_by: 'usage', difference: { compared: 5, exact: 5, mean: 0 } });
    const { observed: seen, table, wantedUs } = trace!;
    expect([...wantedUs].sort()).toEqual([0, 1000, 2000, 3000, 4000]);
    for (let row = 0; row < 5; row++) {
      expect(table.arrivalUs[row]).toBeGreaterThanOrEqual(wantedUs[row]!);
      expect(seen!.e2eUs[row]).toBeGreaterThanOrEqual(seen!.ttftUs[row]!);
      expect(seen!.sent!.latenessUs[row]).toBeGreaterThanOrEqual(0);
    }
    const hurried = wantedUs.indexOf(2000);
    expect(table.deadlineUs[hurried]).toBe(table.arrivalUs[hurried]! + 5e6);
    expect([...seen!.sent!.chunks]).toEqual([3, 3, 3, 3, 3]);
    expect(seen!.sent!.finishReason).toEqual(new Array(5).fill('length'));
    expect(Math.abs(epochUs / 1000 - Date.now())).toBeLessThan(60_000);
  });

  it('has the time after which the client would have given up', async () => {
    const server = await fakeServer(answer);
    const plan = fakePlan(2, (table) => {
      table.deadlineUs[1] = table.arrivalUs[1]! + 5e6;
    });
    const timeouts = async (timeoutUs: number) => {
      const { table, wantedUs } = (await observed(server, plan, { timeoutUs })).trace!;
      return [0, 1000].map((us) => {
        const row = wantedUs.indexOf(us);
        return table.deadlineUs[row] === 0 ? 0 : table.deadlineUs[row]! - table.arrivalUs[row]!;
      });
    };
    expect(await timeouts(9e6)).toEqual([9e6, 5e6]);
    expect(await timeouts(3e6)).toEqual([3e6, 3e6]);
    expect(await timeouts(Number.POSITIVE_INFINITY)).toEqual([0, 5e6]);
  });

  it('leaves the warm-up out, and keeps the ids of the other requests', async () => {
    const server = await fakeServer(answer);
    const { document, facts, trace } = await observed(server, fakePlan(5), {
      ...{ warmUpRequests: 2, rttMs: 1.5, maxConcurrency: 1 },
    });
    expect(document.requests).toMatchObject({ sent: 5, warm_up: 2, recorded: 3 });
    expect([0, 1, 2].map((row) => sourceIdOf(trace!.table, row))).toEqual([2, 3, 4]);
    expect(facts).toMatchObject({ warmUpRequests: 2, rttMs: 1.5, server: { model: 'tiny', maxModelLen: 1000 } });
    expect(facts.maxInFlight).toBe(1);
  });

  it('does not claim a warm-up by ids that are others', async () => {
    const server = await fakeServer(answer);
    const plan = fakePlan(3, (table) => {
      table.arrivalUs.set([2000, 1000, 0]);
    });
    const { facts, trace } = await observed(server, plan, { warmUpRequests: 1, maxConcurrency: 1 });
    expect([0, 1].map((row) => sourceIdOf(trace!.table, row))).toEqual([1, 0]);
    expect(facts).not.toHaveProperty('warmUpRequests');
  });

  it('may be nothing but warm-up', async () => {
    const server = await fakeServer(answer);
    const { document, trace } = await observed(server, fakePlan(2), { warmUpRequests: 2 });
    expect([trace, document.requests.warm_up, document.duration_s]).toEqual([null, 2, 0]);
  });

  it('has the time of every chunk, on request', async () => {
    const server = await fakeServer(answer);
    const { chunks } = await observed(server, fakePlan(3), { recordItl: true, warmUpRequests: 1 });
    expect(chunks.map(({ id, us }) => [id, us.length])).toEqual([
      [1, 3],
      [2, 3],
    ]);
    expect((await observed(server, fakePlan(1))).chunks).toEqual([]);
  });

  it("has the server's metrics at the beginning, during the run and at the end", async () => {
    let looks = 0;
    const held: (() => void)[] = [];
    const server = await fakeServer((request, response) => held.push(() => answer(request, response)), {
      '/metrics': (_, response) => {
        looks++;
        response.end(`vllm:num_requests_running 2\nvllm:num_preemptions_total ${looks}\n`);
        // The first look is for the settings of the server.
        if (looks === 4) for (const go of held.splice(0)) go();
      },
    });
    const { document, facts, metrics } = await observed(server, fakePlan(1), { scrapeIntervalMs: 10 });
    expect(metrics.length).toBeGreaterThanOrEqual(4);
    expect(document.metrics).toMatchObject({ peak_requests_running: 2, preemptions: metrics.length - 1 });
    expect(facts.observedKvMetrics).toEqual(document.metrics);
    expect(metrics[0]!.kv_cache_usage).toBeNaN();
  });

  it('prefers known settings of the server to reported ones', async () => {
    const server = await fakeServer(answer);
    const known = { url: server.url, model: 'tiny', settings: { hardware: 'H100', maxModelLen: 22 } };
    const { document, facts } = await observe(fakePlan(3), known, TOY_OPTIONS);
    expect(facts.server).toEqual({ model: 'tiny', hardware: 'H100', maxModelLen: 22 });
    expect(document.prompts.too_long).toBe(3);
  });
});

describe('load', () => {
  it('has at most the allowed number of requests in progress, and records which ones waited', async () => {
    let most = 0;
    let under = 0;
    const server = await fakeServer((request, response) => {
      most = Math.max(most, ++under);
      // Further requests would have arrived by then.
      setImmediate(() => {
        under--;
        answer(request, response);
      });
    });
    const plan = fakePlan(6, (table) => {
      table.arrivalUs.fill(0);
    });
    const { document, trace } = await observed(server, plan, { maxConcurrency: 2 });
    expect(document.requests.completed).toBe(6);
    expect(most).toBeLessThanOrEqual(2);
    const { capWaitUs } = trace!.observed!.sent!;
    expect(capWaitUs.filter((us) => us === 0).length).toBe(2);
    expect(document.driver.cap_wait.max).toBeGreaterThan(document.driver.lateness.min);
  });

  it('that is too late is marked, with all measurements', async () => {
    const server = await fakeServer(answer);
    /** A machine that always notices 50 ms too late. */
    class LateClock extends MachineClock {
      override alarm(atUs: number, wake: () => void): void {
        super.alarm(Math.max(atUs, this.nowUs()) + 50_000, wake);
      }
    }
    const plan = fakePlan(3, (table) => {
      table.arrivalUs.set([1000, 90_000, 180_000]);
    });
    const late = { maxLatenessUs: 20_000, clock: () => new LateClock() };
    const { document, facts, trace } = await observed(server, plan, late);
    expect(document.late).toMatch(/^p99 of the driver's lateness is \d+\.\d+ ms, at most 20 ms allowed$/);
    expect(facts.late).toBe(document.late);
    expect([trace!.table.count, document.requests.completed]).toEqual([3, 3]);
    expect((await observed(server, plan, { ...late, maxLatenessUs: 0 })).document.late).toBeNull();
  });

  it('ends at the horizon', async () => {
    const server = await fakeServer(answer);
    const { document } = await observed(server, { ...fakePlan(6), horizonUs: 2500 });
    expect(document.requests).toMatchObject({ planned: 3, sent: 3 });
  });

  it('is broken off on demand, and keeps what was measured', async () => {
    const stopping = new AbortController();
    // The third and the fourth request are sent when the first two are complete.
    const server = await fakeServer((request, response, n) => {
      if (n < 2) answer(request, response);
      else if (n === 3) stopping.abort();
    });
    const plan = { ...askAgain(fakePlan(2), 5), expected: 10 };
    const { document, facts, trace } = await observed(server, plan, {}, null, stopping.signal);
    expect(document.partial).toBe('it was broken off after 4 of 10 requests');
    expect(facts.partial).toBe(document.partial);
    expect(document.requests).toMatchObject({ sent: 4, completed: 2, problems: { interrupted: 2 } });
    expect([0, 1, 2, 3].map((row) => sourceIdOf(trace!.table, row)).sort()).toEqual([0, 1, 2, 3]);
  });

  it('may be broken off before it has begun', async () => {
    const server = await fakeServer(answer);
    const stopping = new AbortController();
    const begun = () => stopping.abort();
    const { document, trace } = await observed(server, fakePlan(3), { begun }, null, stopping.signal);
    expect([trace, document.partial]).toEqual([null, 'it was broken off after 0 of 3 requests']);
  });

  it('keeps a server busy before, and records none of that', async () => {
    let others = 0;
    const server = await fakeServer((request, response) => {
      if (request.headers['x-request-id'] === undefined && others++ === 0) json(response, {}, 500);
      else answer(request, response);
    });
    const { document } = await observed(server, fakePlan(2), { prewarmUs: 20_000, maxConcurrency: 2 });
    expect(others).toBeGreaterThan(2);
    expect(document.requests).toMatchObject({ sent: 2, recorded: 2, completed: 2 });
    const prompts = server.requests.map(({ body }) => body.prompt!);
    expect(new Set(prompts).size).toBe(prompts.length);
  });
});

it('is broken off while it keeps the server busy', async () => {
  const stopping = new AbortController();
  const server = await fakeServer(() => stopping.abort());
  const { document } = await observed(server, fakePlan(2), { prewarmUs: 60e6 }, null, stopping.signal);
  expect(document.partial).toBe('it was broken off after 0 of 2 requests');
});

describe('progress', () => {
  it('reports its progress', async () => {
    let last: ObserveProgress | undefined;
    const signal = new AbortController().signal;
    const server = await fakeServer((request, response, n) => {
      if (n === 1) json(response, {}, 500);
      else answer(request, response);
    });
    const plan = { ...fakePlan(3), expected: 8 };
    await observed(server, plan, {}, (now) => (last = now), signal);
    expect(last).toMatchObject({ planned: 8, done: 3, failed: 1, inFlight: 0, chunks: 6 });
    expect(last!.ttftP99Ms).toBeGreaterThanOrEqual(last!.ttftP50Ms);
    await observed(
      await fakeServer((request, response) => json(response, whole(request, 3))),
      fakePlan(1),
      {},
      (now) => (last = now),
      signal,
    );
    expect(last!.ttftP50Ms).toBeNaN();
  });
});
