import { ROUTING_POLICIES } from '../../src/policy/registry.js';
import type { PolicyChoice } from '../../src/simulator/cluster-config.js';
import { fleetReplicas } from '../../src/simulator/fleet/fleet-replicas.js';
import { simulate } from '../../src/simulator/simulate.js';
import { askedConfig } from '../../src/twin/whatif/asked-config.js';
import type { WhatIfQuestion } from '../../src/twin/whatif/whatif-question.js';
import type { RequestTable } from '../../src/workload/request-table.js';
import { recordedWorld } from '../../test/support/recorded-world.js';
import { BLOCK_TOKENS, TRAFFIC, type TrafficKind, tableOf } from '../default-policy/workloads.js';
import { cluster } from '../simulator/scenario.js';

/** Two GPUs, the first 2.5 times as fast. */
export const SLOW_FACTORS = [1, 2.5] as const;
/** Requests per second: both GPUs together keep up; half of it is too much for the slow one. */
const RATE = 12;
/** Requests behind the same prefixes. */
const SET = 100;
/** Of a gateway's reports of its engines, in the model's time. */
export const SIGNALS_US = 1_000_000;
export const SEED = 42;
/** Made to be bad. */
const LEFT_OUT = ['always-busiest'];
/** By default the key is the first two messages, which is a whole prompt here; a simulated prompt has no text. */
const CHOSEN: Record<string, Record<string, unknown>> = { chwbl: { key: 'first-message' } };

/** What each request took, in milliseconds of the model's time, in order of arrival. */
export interface Times {
  readonly ttft: readonly number[];
  readonly e2e: readonly number[];
}

/** Every policy with its defaults. @param names some of them, with commas between them; by default all */
export function triedPolicies(names?: string): PolicyChoice[] {
  const all = ROUTING_POLICIES.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));
  return (names?.split(',') ?? all).map((policy) => ({ policy, options: CHOSEN[policy] ?? {} }));
}

/**
 * Poisson arrivals of prompts behind one of 24 prefixes, which are others after every `SET` requests: a policy that hashes prefixes, or
 * stays with its first decision about each, has its luck several times. In whole blocks, so that both worlds count the same tokens.
 */
export function unlikeTraffic(requests: number, seed: number): RequestTable {
  const several = TRAFFIC.find(({ name }) => name === 'several prefixes')!;
  const sets = Math.ceil(requests / SET);
  const make: TrafficKind['make'] = (random, count) =>
    Array.from({ length: sets }, (_, i) => several.make(random, Math.min(SET, count - i * SET))).flat();
  const table = tableOf({ ...several, make }, requests, RATE, seed);
  for (let row = 0; row < table.count; row++) table.inputTokens[row] = BLOCK_TOKENS * table.blocks!.blocksOf(row);
  return table;
}

/** The simulated fleet, with a router that sees what a live gateway sees. @param prefix of the replicas' ids */
function fleetOf(routing: PolicyChoice, prefix: string) {
  const { config, latency } = cluster(SLOW_FACTORS.length, routing.policy, 'physics');
  const question = { gateway: { signalsUs: SIGNALS_US, blockSize: BLOCK_TOKENS } } as WhatIfQuestion;
  const served = { routingUs: 0, trace: { observed: { served: { replicas: SLOW_FACTORS.map(String) } } } };
  const asked = askedConfig(question, served, config.replica, { routing });
  return { config: { ...asked, seed: SEED, slowFactors: [...SLOW_FACTORS], replicaPrefix: prefix }, latency };
}

export function simulatedTimes(routing: PolicyChoice, table: RequestTable, prefix: string): Times {
  const { config, latency } = fleetOf(routing, prefix);
  const { outcomes } = simulate(config, { table }, latency);
  const ms = (us: Float64Array) => Array.from(us.subarray(0, table.count), (value) => value / 1000);
  return { ttft: ms(outcomes.ttftUs), e2e: ms(outcomes.e2eUs) };
}

/** The code of a gateway in front of emulated engines, in virtual time. */
export async function virtualTimes({ options, policy }: PolicyChoice, table: RequestTable): Promise<Times> {
  const { config, latency } = fleetOf({ options, policy }, VIRTUAL_PREFIX);
  const { served } = await recordedWorld(table, { policy, options, seed: SEED, fleet: fleetReplicas(config, latency) });
  return { ttft: served.map(({ ttftUs }) => ttftUs / 1000), e2e: served.map(({ e2eUs }) => e2eUs / 1000) };
}

export const VIRTUAL_PREFIX = 'engine-';
