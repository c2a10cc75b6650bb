import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../fake-engine.fixture.js';
import { finishedRequest } from '../../request/finished-request.fixture.js';
import { Collector } from './collector.fixture.js';
import { Tracing } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${CALLER}-01`;
const EPOCH_US = Date.UTC(2026, 0, 2) * 1000;
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const [UNSET, ERROR] = [0, 2];

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function collectorOf(): Promise<Collector> {
  const collector = await Collector.start();
  opened.push(() => collector.close());
  return collector;
}

async function tracingTo(endpoint: string, sample = 1): Promise<Tracing> {
  const tracing = await Tracing.open({ endpoint, sample, epochUs: EPOCH_US });
  opened.push(() => tracing.close(0));
  return tracing;
}

describe('begin', () => {
  it('continues a trace that its caller samples, and sends its own span to the replica', async () => {
    const tracing = await tracingTo('http://127.0.0.1:1', 0);
    const trace = tracing.begin(SAMPLED, 'vendor=1')!;
    expect(trace).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, traceState: 'vendor=1' });
    expect(trace.spanId).not.toBe(CALLER);
    expect(trace.traceParentForUpstream).toBe(`00-${TRACE}-${trace.spanId}-01`);
    expect(tracing.begin(SAMPLED.replace(/01$/, '03'), undefined)!.traceParentForUpstream).toMatch(/-03$/);
  });

  it('does not trace what its caller does not sample', async () => {
    const tracing = await tracingTo('http://127.0.0.1:1');
    expect(tracing.begin(SAMPLED.replace(/01$/, '00'), undefined)).toBeNull();
  });

  it('starts a trace without a valid one', async () => {
    const tracing = await tracingTo('http://127.0.0.1:1');
    for (const header of [undefined, '', 'nonsense', [SAMPLED, SAMPLED], `${SAMPLED}, ${SAMPLED}`]) {
      const trace = tracing.begin(header, 'vendor=1')!;
      expect(trace).toMatchObject({ parentSpanId: '', traceState: '' });
      expect(trace.traceParentForUpstream).toBe(`00-${trace.traceId}-${trace.spanId}-01`);
      expect(trace.traceId).not.toBe(TRACE);
    }
    expect(tracing.begin(SAMPLED, 'BAD')!.traceState).toBe('');
    expect(tracing.begin(SAMPLED, ['a=1'])!.traceState).toBe('');
  });

  it('samples the configured share', async () => {
    const drawn = async (sample: number) => {
      const tracing = await tracingTo('http://127.0.0.1:1', sample);
      return Array.from({ length: 1000 }, () => tracing.begin(undefined, undefined)).filter((one) => one !== null)
        .length;
    };
    expect([await drawn(0), await drawn(1)]).toEqual([0, 1000]);
    const half = await drawn(0.5);
    expect(half).toBeGreaterThan(300);
    expect(half).toBeLessThan(700);
  });
});

describe('spans', () => {
  it('reach a collector with ids, parents, times and what is known of the request', async () => {
    const collector = await collectorOf();
    const tracing = await tracingTo(collector.url);
    const trace = tracing.begin(SAMPLED, 'vendor=1')!;
    tracing.ended(finishedRequest(), trace);
    expect(tracing.waiting).toBe(3);
    await tracing.close();
    expect([tracing.exported, tracing.failed, tracing.dropped, tracing.waiting]).toEqual([3, 0, 0, 0]);
    expect(collector.requests.map(({ path, headers }) => [path, headers['content-type']])).toEqual([
      ['/v1/traces', 'application/json'],
    ]);
    const [request, queue, attempt] = collector.spans;
    expect(request).toMatchObject({
      ...{ traceId: TRACE, spanId: trace.spanId, parentSpanId: CALLER, traceState: 'vendor=1' },
      ...{ name: 'POST /v1/chat/completions', kind: SERVER, status: { code: UNSET } },
      startUs: EPOCH_US + 10_000_000,
      endUs: EPOCH_US + 11_000_000,
      events: [{ name: 'first_token', atUs: EPOCH_US + 10_150_000 }],
      resource: { 'service.name': 'twinyard' },
    });
    expect(request!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 64,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.reasoning.output_tokens': 5,
      'twinyard.request_id': 'request-1',
      'twinyard.endpoint': 'chat',
      'twinyard.replica': 'r0',
      'twinyard.policy': 'weighted',
      'twinyard.rule': 'highest weighted score',
      'twinyard.outcome': 'ok',
      'twinyard.attempts': 1,
      'twinyard.streamed': true,
    });
    expect(queue).toMatchObject({
      ...{ traceId: TRACE, parentSpanId: trace.spanId, name: 'queue', kind: INTERNAL },
      startUs: EPOCH_US + 10_000_500,
      endUs: EPOCH_US + 10_002_500,
    });
    expect(attempt).toMatchObject({
      ...{ traceId: TRACE, parentSpanId: trace.spanId, name: 'chat m', kind: CLIENT },
      startUs: EPOCH_US + 10_002_500,
      endUs: EPOCH_US + 11_000_000,
      attributes: { 'twinyard.replica': 'r0' },
      status: { code: UNSET },
    });
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3);
    const page = readFileSync(new URL('../../../../docs/telemetry.md', import.meta.url), 'utf8');
    for (const attribute of Object.keys(request!.attributes)) expect(page).toContain(`\`${attribute}\``);
  });

  it('include failed attempts and a failed end', async () => {
    const collector = await collectorOf();
    const tracing = await tracingTo(collector.url);
    const trace = tracing.begin(undefined, undefined)!;
    const failedAttempts = [
      { replicaId: 'r1', dispatchedUs: 10_002_000, endedUs: 10_003_000, cause: 'status 503' },
      { replicaId: 'r2', dispatchedUs: 10_030_000, endedUs: 10_040_000, cause: 'connection broke' },
    ];
    const bad = { outcome: 'timeout', status: 200, cause: 'no further byte', isMetered: false } as const;
    tracing.ended(finishedRequest({ ...bad, failedAttempts, attempts: 3, dispatchedUs: 10_100_000 }), trace);
    await tracing.close();
    const [request, queue, ...tries] = collector.spans;
    expect(request).toMatchObject({
      traceId: trace.traceId,
      status: { code: ERROR, message: 'no further byte' },
      attributes: { 'error.type': 'timeout', 'twinyard.cause': 'no further byte' },
    });
    expect(request!.parentSpanId ?? '').toBe('');
    expect(Object.keys(request!.attributes).filter((key) => key.startsWith('gen_ai.usage'))).toEqual([]);
    expect([queue!.startUs, queue!.endUs]).toEqual([EPOCH_US + 10_000_000, EPOCH_US + 10_002_000]);
    expect(
      tries.map(({ attributes, endUs, kind, parentSpanId, startUs, status }) => [
        ...[attributes['twinyard.replica'], attributes['error.type'], startUs - EPOCH_US, endUs - EPOCH_US],
        ...[kind, parentSpanId === trace.spanId, status.code],
      ]),
    ).toEqual([
      ['r1', 'status 503', 10_002_000, 10_003_000, CLIENT, true, ERROR],
      ['r2', 'connection broke', 10_030_000, 10_040_000, CLIENT, true, ERROR],
      ['r0', 'timeout', 10_100_000, 11_000_000, CLIENT, true, ERROR],
    ]);
  });

  it('include a request that reached no replica', async () => {
    const collector = await collectorOf();
    const tracing = await tracingTo(collector.url);
    const never = { replicaId: '', policy: '', rule: '', dispatchedUs: -1, firstTokenUs: -1, attempts: 0 };
    const trace = tracing.begin(undefined, undefined)!;
    tracing.ended(finishedRequest({ ...never, queuedUs: 900_000, outcome: 'no_replica', status: 503 }), trace);
    tracing.ended(finishedRequest({ ...never, queuedUs: 0, outcome: 'client_error', status: 400 }), trace);
    await tracing.close();
    expect(collector.spans.map(({ name, status }) => [name, status.code])).toEqual([
      ['POST /v1/chat/completions', ERROR],
      ['queue', UNSET],
      ['POST /v1/chat/completions', UNSET],
    ]);
    expect(collector.spans[0]!.attributes).not.toHaveProperty(['twinyard.replica']);
    const [, queue] = collector.spans;
    expect([queue!.startUs, queue!.endUs]).toEqual([EPOCH_US + 10_100_000, EPOCH_US + 11_000_000]);
  });

  it('contain no sessions, keys or classes', async () => {
    const collector = await collectorOf();
    const tracing = await tracingTo(collector.url);
    const planted = { session: 'planted-1', sloClass: 'planted-2', recordedBlocks: 'planted-3', keyId: 'planted-4' };
    tracing.ended(finishedRequest(planted), tracing.begin(undefined, undefined)!);
    await tracing.close();
    expect(collector.requests.length).toBe(1);
    expect(JSON.stringify(collector.requests)).not.toContain('planted');
  });

  it('are sent periodically', async () => {
    const collector = await collectorOf();
    const tracing = await tracingTo(collector.url);
    for (let i = 0; i < 100; i++) tracing.ended(finishedRequest(), tracing.begin(undefined, undefined)!);
    await until(() => tracing.exported === 300);
    expect(collector.spans.length).toBe(300);
  });
});

describe('an unavailable collector', () => {
  it('costs spans, which are counted, and nothing else', async () => {
    const collector = await collectorOf();
    collector.status = 400;
    const tracing = await tracingTo(collector.url);
    tracing.ended(finishedRequest(), tracing.begin(undefined, undefined)!);
    await tracing.close();
    expect([tracing.exported, tracing.failed, tracing.dropped]).toEqual([0, 3, 0]);
  });

  it('queues a bounded number of spans', async () => {
    const collector = await collectorOf();
    collector.hangs = true;
    const tracing = await tracingTo(collector.url);
    for (let i = 0; i < 2000; i++) tracing.ended(finishedRequest(), tracing.begin(undefined, undefined)!);
    expect(tracing.waiting).toBe(4095);
    expect([tracing.exported, tracing.failed, tracing.dropped]).toEqual([0, 0, 6000 - 4095]);
  });

  it('does not delay the shutdown', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const tracing = await tracingTo(`http://127.0.0.1:${(silent.address() as { port: number }).port}`);
    tracing.ended(finishedRequest(), tracing.begin(undefined, undefined)!);
    await tracing.close(1);
    expect(tracing.exported).toBe(0);
    tracing.ended(finishedRequest(), tracing.begin(undefined, undefined)!);
    expect(tracing.dropped).toBe(3);
    silent.close();
  });
});
