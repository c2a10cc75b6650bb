import { EmulatedReplica, type LiveSequence } from '../../src/emulator/emulated-replica.js';
import { ManualClock } from '../../src/emulator/virtual-clocks.fixture.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../../src/gateway/config/gateway-config.js';
import { DecisionRing } from '../../src/gateway/decisions/decision-ring.js';
import { Endpoint } from '../../src/gateway/fleet/endpoint/endpoint.js';
import { LiveReplica } from '../../src/gateway/fleet/replica/live-replica.js';
import { fakeFacts } from '../../src/gateway/request/fake-facts.fixture.js';
import { GatewayMetrics } from '../../src/gateway/telemetry/gateway-metrics.js';
import { EventHeap } from '../../src/kernel/events/event-heap.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import { profileLatency } from '../../src/replica/latency/profile-latency.js';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import type { FleetReplica } from '../../src/simulator/fleet/fleet-replicas.js';
import { replicaPredictors } from '../../src/simulator/prediction/replica-predictors.js';
import { type MetricRow, metricsOfResponses } from '../../src/twin/whatif/recorded-metrics.js';
import { PROFILE, REPLICA } from '../../src/twin/whatif/recorded-run.fixture.js';
import type { RequestTable } from '../../src/workload/request-table.js';
import { shareSpeeds } from './scripted-predictors.js';

const BLOCK = 16;
const SIGNALS_US = 1_000_000;
const EPOCH_US = 1_790_000_000_000_000;
const NEVER = Number.POSITIVE_INFINITY;

export interface LivePolicy {
  policy: string;
  options?: Record<string, unknown>;
  replicas?: number;
  seed?: number;
  /** Unlike engines, whose speed the gateway knows; by default all are small ones of which it knows nothing. */
  fleet?: readonly FleetReplica[];
  /** The engines; absent: those that the profile of the fixture describes exactly. */
  engine?: WorldEngine;
  /** Later turns of sessions; absent: every request arrives when the table says. */
  turns?: WorldTurns;
  /** Whether recordings have the sessions of requests; absent: they do. */
  hidesSessions?: boolean;
}

export interface WorldEngine {
  replica: ReplicaModelConfig;
  /** Step times of one replica. @param others how many requests the other replicas compute at the moment */
  latencyOf(slot: number, others: () => number): LatencyModel;
  /** From the arrival at the gateway until the replica has the request. */
  dispatchUs: number;
}

/** Rows that arrive a pause after the response of another one: the client reads, thinks and writes. */
export interface WorldTurns {
  /** By row: the next turn, -1 for none; and the row that the session began with. */
  next: Int32Array;
  first: Int32Array;
  /** By row: the pause before it. */
  pauseUs: Float64Array;
}

export interface ServedRequest {
  replica: string;
  ttftUs: number;
  e2eUs: number;
  cachedTokens: number;
}

/** What a gateway's endpoint with emulated engines behind it made of requests, in virtual time. */
export interface RecordedWorld {
  /** As the gateway would have recorded it. */
  lines: string;
  measured: MetricRow;
  served: readonly ServedRequest[];
}

/**
 * The gateway's own decisions, with the signals that its replicas report every second, in front of the emulated engine: all
 * that a live run has but sockets.
 */
export async function recordedWorld(table: RequestTable, live: LivePolicy): Promise<RecordedWorld> {
  const ids = Array.from({ length: live.fleet?.length ?? live.replicas ?? 4 }, (_, i) => `engine-${i}`);
  const clocks = ids.map(() => new ManualClock());
  const engine = live.engine ?? EXACT;
  const { turns } = live;
  const engines: EmulatedReplica[] = clocks.map((clock, slot) => {
    const others = () => engines.reduce((sum, { replica }, other) => sum + (other === slot ? 0 : replica.batchSize), 0);
    const { config, scaled } = live.fleet?.[slot] ?? { config: engine.replica, scaled: engine.latencyOf(slot, others) };
    return new EmulatedReplica(config, scaled, clock);
  });
  const replicas = ids.map(
    (id) => new LiveReplica({ id, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS),
  );
  for (const replica of replicas) replica.healthy(0);
  let nowUs = 0;
  const endpoint = new Endpoint(
    'default',
    { ...DEFAULT_POLICY, name: live.policy, options: live.options ?? {}, blockSize: BLOCK },
    {
      config: {
        seed: live.seed ?? 1,
        signals: { intervalMs: SIGNALS_US / 1000, staleMs: 1e9 },
        ...{ slowStartMs: 0, timeouts: GATEWAY_DEFAULTS.timeouts, waitMs: 0 },
      },
      ...{ metrics: new GatewayMetrics(), ring: new DecisionRing(1), log: null, warn: () => {} },
      nowUs: () => nowUs,
      newAlarm: () => ({ set: () => {} }),
    },
  );
  if (live.fleet !== undefined) shareSpeeds(endpoint, ids, replicaPredictors(live.fleet));
  endpoint.setReplicas(replicas);
  const served: ServedRequest[] = [];
  const scrape = () => {
    for (const [i, { replica }] of engines.entries()) {
      const { cacheHitRate, kv, queueDepth, reports } = replica;
      endpoint.report(replicas[i]!, {
        ...{ atUs: nowUs, running: reports.running, waiting: queueDepth, cacheHitRate, missing: [] },
        ...{ kvUsed: reports.usedBlocks / kv.pool.total, freeBlocks: kv.pool.total - reports.usedBlocks },
      });
    }
  };
  const arrivals = new EventHeap();
  for (let row = 0; row < table.count; row++) {
    if (turns === undefined || turns.first[row] === row) arrivals.push(table.arrivalUs[row]!, row);
  }
  const arrive = (row: number) => {
    const placement = endpoint.placer.place(factsOf(table, row, turns), 0, [])!;
    const slot = replicas.indexOf(placement.replica);
    const one: ServedRequest = { replica: ids[slot]!, ttftUs: 0, e2eUs: 0, cachedTokens: 0 };
    served[row] = one;
    const sequence: LiveSequence = {
      inputTokens: table.inputTokens[row]!,
      outputTokens: table.outputTokens[row]!,
      keys: keysOf(table, row, turns),
      produced(_, atUs) {
        if (one.ttftUs > 0) return;
        one.ttftUs = atUs - table.arrivalUs[row]!;
        one.cachedTokens = engines[slot]!.cachedTokens(sequence);
        endpoint.placer.firstToken(placement, true);
      },
      ended(atUs) {
        one.e2eUs = atUs - table.arrivalUs[row]!;
        endpoint.placer.finish(placement, sequence.outputTokens);
        const next = turns?.next[row] ?? -1;
        if (next < 0) return;
        table.arrivalUs[next] = Math.round(atUs + turns!.pauseUs[next]!);
        arrivals.push(table.arrivalUs[next]!, next);
      },
    };
    clocks[slot]!.runTo(nowUs);
    engines[slot]!.submit(sequence, nowUs + engine.dispatchUs);
  };
  for (let scrapeUs = 0; ; ) {
    const arrivalUs = arrivals.size > 0 ? arrivals.nextUs : NEVER;
    const engineUs = Math.min(...clocks.map((clock) => clock.nextUs));
    if (arrivalUs === NEVER && engineUs === NEVER) break;
    nowUs = Math.min(arrivalUs, engineUs, scrapeUs);
    if (engineUs === nowUs) clocks.find((clock) => clock.nextUs === nowUs)!.runTo(nowUs);
    else if (scrapeUs === nowUs) {
      scrape();
      scrapeUs += SIGNALS_US;
    } else arrive(arrivals.pop());
  }
  await Promise.all(replicas.map((replica) => replica.close()));
  const lines = served.map((one, row) => lineOf(table, row, one, live)).join('');
  return { lines, measured: measuredOf(table, served), served };
}

/**
 * A prompt of blocks as messages, four bytes per token and a text of its own for each block. The first is what a simulated router calls the
 * beginning of the prompt: policies that hash it have the same keys in both worlds.
 */
export function messagesOf({ blocks }: RequestTable, row: number): { role: 'user'; content: string }[] {
  const textOf = (block: number) => `block ${block} of the prompt `.repeat(4).slice(0, 4 * BLOCK);
  const prompt = Array.from({ length: blocks!.blocksOf(row) }, (_, i) => textOf(blocks!.block(row, i))).join('');
  const opening = blocks!.sharedBlocks(row) > 0 ? `block:${blocks!.block(row, 0) + 1}` : `request_${row}`;
  return [opening, prompt].map((content) => ({ role: 'user', content }));
}

const EXACT: WorldEngine = { replica: REPLICA, latencyOf: () => profileLatency(PROFILE), dispatchUs: 0 };

/** Four bytes per token, as the gateway counts them. */
function factsOf(table: RequestTable, row: number, turns: WorldTurns | undefined) {
  const streams = true;
  if (table.blocks !== null)
    return fakeFacts({ id: `request-${row}`, streams, kind: 'chat', body: { messages: messagesOf(table, row) } });
  const shared = sharedTokens(table, row);
  const prefix = `${table.prefixGroup[row]};`.padEnd(4 * shared, '-').slice(0, 4 * shared);
  return fakeFacts({
    id: `request-${row}`,
    streams,
    session: table.sessions.name(table.session[row]!),
    body: {
      prompt: `${prefix}${`${turns?.first[row] ?? row};`.padEnd(4 * (table.inputTokens[row]! - shared), '.')}`,
    },
  });
}

/** Blocks of the prefix, and those that no other request has but the turns of its session: these repeat responses. */
function keysOf(table: RequestTable, row: number, turns: WorldTurns | undefined): Int32Array {
  const own = turns?.first[row] ?? row;
  const { blocks: prompts } = table;
  if (prompts !== null) {
    const filled = Math.floor((table.inputTokens[row]! + table.outputTokens[row]! - 1) / BLOCK);
    const keyOf = (i: number) => (i < prompts.blocksOf(row) ? prompts.block(row, i) : prompts.count + row * 1000 + i);
    return Int32Array.from({ length: filled }, (_, i) => keyOf(i));
  }
  const shared = Math.floor(sharedTokens(table, row) / BLOCK);
  const blocks = Math.floor((table.inputTokens[row]! + table.outputTokens[row]! - 1) / BLOCK);
  return Int32Array.from({ length: blocks }, (_, i) =>
    i < shared ? table.prefixGroup[row]! * 1000 + i : 1_000_000 + own * 1000 + i,
  );
}

function sharedTokens({ prefixGroup, prefixTokens }: RequestTable, row: number): number {
  return prefixTokens[prefixGroup[row]!] ?? 0;
}

function lineOf(
  table: RequestTable,
  row: number,
  { cachedTokens, e2eUs, replica, ttftUs }: ServedRequest,
  { engine = EXACT, hidesSessions, turns }: LivePolicy,
): string {
  const session = hidesSessions ? '' : table.sessions.name(table.session[row]!);
  const at = EPOCH_US + table.arrivalUs[row]!;
  const keys = keysOf(table, row, turns).subarray(0, Math.floor(table.inputTokens[row]! / BLOCK));
  const line = {
    ...{ t_us: at, id: `request-${row}`, endpoint: 'default', model: 'm', tenant: null, session: session || null },
    ...{ slo_class: 'standard', input_tokens: table.inputTokens[row], cached_tokens: cachedTokens },
    ...{ output_tokens: table.outputTokens[row], block_size: BLOCK, blocks: Array.from(keys, String), replica },
    ...{
      dispatch_us: at + engine.dispatchUs,
      first_token_us: at + ttftUs,
      end_us: at + e2eUs,
      status: 200,
      outcome: 'ok',
    },
  };
  return `${JSON.stringify(line)}\n`;
}

function measuredOf(table: RequestTable, served: readonly ServedRequest[]): MetricRow {
  const cached = served.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0);
  const input = served.reduce((sum, _, row) => sum + table.inputTokens[row]!, 0);
  return metricsOfResponses(
    {
      ttftUs: served.map(({ ttftUs }) => ttftUs),
      e2eUs: served.map(({ e2eUs }) => e2eUs),
      outputTokens: served.map((_, row) => table.outputTokens[row]!),
    },
    cached / input,
  );
}
