import type { LengthLimits } from '../lengths/length-distribution.js';
import { COUNT, MAX_ROUNDS, PAUSE, PERCENT, TOKENS } from '../lengths/limits.js';
import type { ArrivalSpec, ClientSpec, CohortSpec, LengthSpec, WorkloadSpec } from './workload-spec.js';

/** A client or a cohort with its place: `clients[2]`. */
export interface TrafficAt {
  path: string;
  traffic: ClientSpec | CohortSpec;
}

/** A client or a cohort: cohorts alone have a population. */
export function isCohort(traffic: ClientSpec | CohortSpec): traffic is CohortSpec {
  return 'population' in traffic;
}

export function* trafficOf({ clients = [], cohorts = [] }: WorkloadSpec): Generator<TrafficAt> {
  for (const [i, traffic] of clients.entries()) yield { path: `clients[${i}]`, traffic };
  for (const [i, traffic] of cohorts.entries()) yield { path: `cohorts[${i}]`, traffic };
}

export function* clientsOf({ clients = [] }: WorkloadSpec): Generator<{ path: string; client: ClientSpec }> {
  for (const [i, client] of clients.entries()) yield { path: `clients[${i}]`, client };
}

export function* cohortsOf({ cohorts = [] }: WorkloadSpec): Generator<{ path: string; cohort: CohortSpec }> {
  for (const [i, cohort] of cohorts.entries()) yield { path: `cohorts[${i}]`, cohort };
}

/** The client represents users who wait for their responses. */
export function hasUsers(traffic: ClientSpec | CohortSpec): traffic is ClientSpec & { concurrency: number } {
  return 'concurrency' in traffic && traffic.concurrency !== undefined;
}

/** The client sends at a rate, unlike users who wait or one session with a set start. */
export function hasRate(traffic: ClientSpec | CohortSpec): boolean {
  return !hasUsers(traffic) && traffic.reasoning?.multi_turn?.start_us === undefined;
}

export function windowsOf(traffic: ClientSpec | CohortSpec) {
  return ('lifecycle' in traffic && traffic.lifecycle?.windows) || [];
}

/** Every arrival process with its place. */
export function* arrivalsOf(spec: WorkloadSpec): Generator<{ path: string; arrival: ArrivalSpec }> {
  for (const { path, traffic } of trafficOf(spec)) {
    if (traffic.arrival !== undefined) yield { path: `${path}.arrival`, arrival: traffic.arrival };
    for (const [i, { arrival }] of windowsOf(traffic).entries()) {
      if (arrival !== undefined) yield { path: `${path}.lifecycle.windows[${i}].arrival`, arrival };
    }
  }
}

export interface LengthAt {
  path: string;
  length: LengthSpec;
  /** The limits of the numbers it draws. */
  limits: LengthLimits;
}

/** Every length distribution with its place. */
export function* lengthsOf(spec: WorkloadSpec): Generator<LengthAt> {
  for (const { path, traffic } of trafficOf(spec)) {
    yield* present(path, { input_distribution: traffic.input_distribution }, TOKENS);
    yield* present(path, { output_distribution: traffic.output_distribution }, TOKENS);
    for (const [i, { input_distribution, output_distribution }] of windowsOf(traffic).entries()) {
      yield* present(`${path}.lifecycle.windows[${i}]`, { input_distribution, output_distribution }, TOKENS);
    }
    for (const [key, length] of Object.entries(traffic.multimodal ?? {}) as [string, LengthSpec][]) {
      yield { path: `${path}.multimodal.${key}`, length, limits: key.includes('_count_') ? COUNT : TOKENS };
    }
    const { reason_ratio_distribution, multi_turn } = traffic.reasoning ?? {};
    yield* present(`${path}.reasoning`, { reason_ratio_distribution }, PERCENT);
    const { rounds_distribution, think_time_distribution, input_distribution } = multi_turn ?? {};
    const chat = `${path}.reasoning.multi_turn`;
    yield* present(chat, { rounds_distribution }, { least: 1, most: MAX_ROUNDS });
    yield* present(chat, { think_time_distribution }, PAUSE);
    yield* present(chat, { input_distribution }, TOKENS);
  }
}

function* present(
  path: string,
  lengths: Record<string, LengthSpec | undefined>,
  limits: LengthLimits,
): Generator<LengthAt> {
  for (const [key, length] of Object.entries(lengths)) {
    if (length !== undefined) yield { path: `${path}.${key}`, length, limits };
  }
}
