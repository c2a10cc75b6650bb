import { basename } from 'node:path';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import { specInvalid } from '../errors.js';
import { changedRates, dropped, sharedGroups } from './compose-notes.js';
import { RULES } from './rules/registry.js';
import { hasRate, isCohort, trafficOf, windowsOf } from './walk.js';
import type { ClientSpec, CohortSpec, WorkloadSpec } from './workload-spec.js';

/** A specification and the file it was read from. */
export interface SpecPart {
  path: string;
  spec: WorkloadSpec;
}

export interface ComposedSpec {
  spec: WorkloadSpec;
  /** What could not be kept as it was, a line each. */
  notes: string[];
}

/**
 * All clients and cohorts of several specifications in one: the rates add up, and every client keeps its rate. The
 * inputs are not changed.
 */
export function composeSpecs(parts: readonly SpecPart[]): ComposedSpec {
  const notes: string[] = [];
  checkRates(parts);
  const total = parts.reduce((sum, part) => sum + rateOf(part.spec), 0);
  const spec: WorkloadSpec = { version: '2' };
  const { category } = parts[0]!.spec;
  if (category !== undefined) spec.category = category;
  const taken = new Map<string, string>();
  const all: (ClientSpec | CohortSpec)[] = [];
  for (const { path, spec: part } of parts) {
    for (const traffic of scaledTraffic(part, total)) all.push({ ...traffic, id: freeId(traffic, path, taken, notes) });
  }
  const clients = all.filter((traffic) => !isCohort(traffic));
  const cohorts = all.filter(isCohort);
  if (clients.length > 0) spec.clients = clients;
  if (cohorts.length > 0) spec.cohorts = cohorts;
  if (total > 0) spec.aggregate_rate = total;
  keepCommonHorizon(spec, parts, notes);
  mergeTargets(spec, parts);
  notes.push(...dropped(parts), ...sharedGroups(parts), ...changedRates(parts));
  const place = parts.map(({ path }) => path).join(' + ');
  const fail = (where: string, problem: string, hint: string) => specInvalid(`${place} (${where})`, problem, hint);
  for (const rule of RULES) rule(spec, fail);
  return { spec, notes };
}

/** Shared rates and absolute rates cannot be distinguished once they are in one file. */
function checkRates(parts: readonly SpecPart[]): void {
  for (const { path, spec } of parts) {
    if (spec.inference_perf === undefined) continue;
    throw specInvalid(
      `${path} (inference_perf)`,
      'cannot be combined with clients',
      'compose specifications of clients',
    );
  }
  const withRates = parts.filter(({ spec }) => sharersOf(spec).length > 0);
  const shared = withRates.find(({ spec }) => (spec.aggregate_rate ?? 0) > 0);
  const absolute = withRates.find(({ spec }) => (spec.aggregate_rate ?? 0) === 0);
  if (shared === undefined || absolute === undefined) return;
  const problem = `has none and sets rates in its windows, while ${shared.path} has one`;
  throw specInvalid(`${absolute.path} (aggregate_rate)`, problem, 'give all specifications an aggregate_rate, or none');
}

/** Requests per second of the clients that share a rate; a rate without clients does not count. */
function rateOf(spec: WorkloadSpec): number {
  return sharersOf(spec).length === 0 ? 0 : (spec.aggregate_rate ?? 0);
}

function sharersOf(spec: WorkloadSpec): (ClientSpec | CohortSpec)[] {
  return [...trafficOf(spec)].map(({ traffic }) => traffic).filter(hasRate);
}

/** Copies of all clients and cohorts with shares of the total rate. */
function scaledTraffic(spec: WorkloadSpec, total: number): (ClientSpec | CohortSpec)[] {
  const sum = sharersOf(spec).reduce((all, { rate_fraction = 1 }) => all + rate_fraction, 0);
  return [...trafficOf(spec)].map(({ traffic }) => {
    const copy = structuredClone(traffic);
    if (total > 0 && hasRate(copy)) scaleShares(copy, rateOf(spec) / total / sum);
    return copy;
  });
}

function scaleShares(traffic: ClientSpec | CohortSpec, scale: number): void {
  const scaled = (share: number) => Number((share * scale).toPrecision(12));
  traffic.rate_fraction = scaled(traffic.rate_fraction ?? 1);
  for (const window of windowsOf(traffic)) {
    if (window.trace_rate !== undefined) window.trace_rate = scaled(window.trace_rate);
  }
  if (isCohort(traffic) && traffic.spike?.trace_rate !== undefined) {
    traffic.spike.trace_rate = scaled(traffic.spike.trace_rate);
  }
}

/** The id, with the name of its file in front when another file has it too. */
function freeId({ id }: ClientSpec | CohortSpec, path: string, taken: Map<string, string>, notes: string[]): string {
  let free = id;
  if (taken.has(id)) {
    free = `${basename(path).replace(/\.[^.]*$/, '')}/${id}`;
    if (taken.has(free)) {
      throw specInvalid(
        `${path} (${id})`,
        `'${id}' and '${free}' are ids of ${taken.get(free)} too`,
        'rename one of them',
      );
    }
    notes.push(
      `${path}: '${id}' is the id of ${taken.get(id)} too, here it becomes '${free}' and draws other random numbers`,
    );
  }
  taken.set(free, path);
  return free;
}

function keepCommonHorizon(spec: WorkloadSpec, parts: readonly SpecPart[], notes: string[]): void {
  const horizons = new Set(parts.map((part) => part.spec.horizon));
  const [horizon] = horizons;
  if (horizons.size === 1 && horizon !== undefined) spec.horizon = horizon;
  if (horizons.size === 1) return;
  for (const { path, spec: own } of parts) {
    if (own.horizon !== undefined)
      notes.push(`${path}: horizon ${own.horizon} is left out, as the others have another or none`);
  }
}

function mergeTargets(spec: WorkloadSpec, parts: readonly SpecPart[]): void {
  for (const { path, spec: own } of parts) {
    for (const [sloClass, target] of Object.entries(own.goodput_slo_targets ?? {})) {
      spec.goodput_slo_targets ??= {};
      const before = spec.goodput_slo_targets[sloClass] ?? target;
      spec.goodput_slo_targets[sloClass] = { ...target };
      if (canonicalJson(before) === canonicalJson(target)) continue;
      const problem = 'the targets of this class differ from those in a specification before';
      throw specInvalid(
        `${path} (goodput_slo_targets.${sloClass})`,
        problem,
        'give a class the same targets everywhere',
      );
    }
  }
}
