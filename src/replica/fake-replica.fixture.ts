import type { CountedValues } from '../kernel/counted-values.js';
import { RequestTable, ROW_GROWS_CONTEXT, ROW_OPEN_ENDED } from '../workload/request-table.js';
import type { LatencyModel } from './latency/contract.js';
import { Replica } from './replica.js';
import type { ReplicaModelConfig } from './replica-model-config.js';
import type { BlockKeys, ReplicaRequests } from './replica-requests.js';
import { RequestOutcomes, type RequestStatus, STATUSES } from './request-outcomes.js';

/** A latency model for sums in the head: a step takes 10 us and 1 us more per token. */
export function fakeLatency(overheads: Partial<LatencyModel> = {}): LatencyModel {
  return {
    queueingUs: 0,
    outputTokenUs: 0,
    postDecodeUs: 0,
    stepUs: (shape) => 10 + shape.prefillTokens + shape.decodes,
    ...overheads,
  };
}

/** Roomy: 100 blocks of 4 tokens, 8 seats, 100 tokens per step, requests as long as the memory. */
export function fakeConfig(changes: Partial<ReplicaModelConfig> = {}): ReplicaModelConfig {
  const { totalKvBlocks = 100, blockSize = 4 } = changes;
  return {
    model: 'tiny',
    hardware: 'none',
    tp: 1,
    dp: 1,
    moeCommBackend: '',
    latencyModel: 'tiny',
    alphaCoeffs: null,
    betaCoeffs: null,
    totalKvBlocks,
    blockSize,
    gpuMemoryUtilization: 0.9,
    maxModelLen: totalKvBlocks * blockSize,
    maxNumSeqs: 8,
    maxNumBatchedTokens: 100,
    longPrefillTokenThreshold: 0,
    scheduler: 'fcfs',
    preemptionPolicy: 'fcfs',
    ...changes,
  };
}

export interface FakeRequest {
  at?: number;
  input: number;
  /** Defaults to 1: only the step of the prompt. */
  output?: number;
  /** The client's output limit; defaults to the output. */
  openEnded?: boolean;
  deadline?: number;
  slo?: string;
  /** Its own target for `slo-deadline` dispatch. */
  sloTarget?: number;
  tenant?: string;
  model?: string;
  /** Requests of one group begin with the same tokens. */
  group?: string;
  prefix?: number;
  session?: string;
  round?: number;
  /** The session's later turns repeat this one's prompt and output. */
  grows?: boolean;
}

export function fakeTable(requests: readonly FakeRequest[]): RequestTable {
  const table = new RequestTable();
  for (const one of requests) {
    const row = table.append();
    table.arrivalUs[row] = one.at ?? 0;
    table.inputTokens[row] = one.input;
    table.outputTokens[row] = one.output ?? 1;
    table.deadlineUs[row] = one.deadline ?? 0;
    table.sloTargetUs[row] = one.sloTarget ?? 0;
    table.sloClass[row] = table.sloClasses.index(one.slo ?? '');
    table.tenant[row] = table.tenants.index(one.tenant ?? '');
    table.model[row] = table.models.index(one.model ?? '');
    table.prefixGroup[row] = table.prefixGroups.index(one.group ?? '');
    if (one.group !== undefined) table.prefixTokens[table.prefixGroup[row]!] = one.prefix ?? one.input;
    table.session[row] = table.sessions.index(one.session ?? '');
    table.round[row] = one.round ?? 0;
    table.flags[row] = (one.grows ? ROW_GROWS_CONTEXT : 0) | (one.openEnded ? ROW_OPEN_ENDED : 0);
  }
  return table;
}

const RUN = 1000;

/** Keys by arithmetic: 1000 for each group, session and row, so that a key shows where it comes from. */
export function fakeKeys(table: RequestTable, blockSize: number): BlockKeys {
  const groupBlocks = (row: number) => Math.floor(table.prefixTokens[table.prefixGroup[row]!]! / blockSize);
  const grows = (row: number) => (table.flags[row]! & ROW_GROWS_CONTEXT) !== 0;
  return {
    fill(row, blocks, out) {
      const own = grows(row) ? 100 + table.session[row]! : 200 + row;
      for (let i = 0; i < blocks; i++) out[i] = RUN * (i < groupBlocks(row) ? table.prefixGroup[row]! : own) + i;
    },
    shared: (row, blocks) => (grows(row) ? blocks : Math.min(blocks, groupBlocks(row))),
  };
}

const URGENCY: Record<string, number> = { critical: 0, batch: 5, sheddable: 6, background: 7 };

export function fakeRequests(table: RequestTable, blockSize = 4): ReplicaRequests {
  return {
    table,
    outcomes: new RequestOutcomes(table.count),
    keys: fakeKeys(table, blockSize),
    urgency: (row) => URGENCY[table.sloClasses.name(table.sloClass[row]!)] ?? 1,
  };
}

/** An event that a replica reported: when, and with which time. */
export interface FakeEvent {
  toldUs: number;
  row: number;
  what: 'first token' | 'completed' | 'lost';
  atUs?: number;
}

/** The sorted list of counted values. */
export function writtenOut(values: CountedValues): number[] {
  return Array.from({ length: values.total }, (_, i) => values.at(i));
}

export interface FakeSetup {
  config?: Partial<ReplicaModelConfig>;
  latency?: Partial<LatencyModel>;
  horizonUs?: number;
}

/** One replica that gets its requests at their arrival times, in the order of the list. */
export function fakeReplica(list: readonly FakeRequest[], { config, latency, horizonUs }: FakeSetup = {}) {
  const table = fakeTable(list);
  const settings = fakeConfig(config);
  const requests = fakeRequests(table, settings.blockSize);
  const { outcomes } = requests;
  const events: FakeEvent[] = [];
  let toldUs = 0;
  const replica = new Replica(
    settings,
    fakeLatency(latency),
    requests,
    {
      firstToken: (row) => events.push({ toldUs, row, what: 'first token' }),
      left: (row, completed, atUs) => events.push({ toldUs, row, what: completed ? 'completed' : 'lost', atUs }),
    },
    horizonUs ?? Number.POSITIVE_INFINITY,
  );
  let next = 0;

  /** Runs everything before a moment; arrivals come before what the replica does at the same time. */
  function runUntil(limitUs: number): void {
    for (;;) {
      const arrivalUs = next < table.count ? table.arrivalUs[next]! : Number.POSITIVE_INFINITY;
      toldUs = Math.min(arrivalUs, replica.nextUs);
      if (toldUs >= limitUs) return;
      if (arrivalUs <= replica.nextUs) replica.enqueue(next++, arrivalUs);
      else replica.runNext();
    }
  }

  return {
    replica,
    outcomes,
    events,
    runUntil,
    run: () => runUntil(Number.POSITIVE_INFINITY),
    status: (row: number): RequestStatus => STATUSES[outcomes.status[row]!]!,
    /** Every gap between tokens of completed requests, sorted. */
    gaps: () => writtenOut(replica.gapCounts()),
  };
}
