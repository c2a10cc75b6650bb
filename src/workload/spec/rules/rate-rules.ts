import { MAX_CLIENTS } from '../limits.js';
import { clientsOf, cohortsOf, hasRate, trafficOf, windowsOf } from '../walk.js';
import type { Rule } from './rule.js';

/** Without requests there is nothing to simulate. */
export const someoneSends: Rule = ({ clients, cohorts, inference_perf }, fail) => {
  if (clients !== undefined || cohorts !== undefined || inference_perf !== undefined) return;
  throw fail('clients', 'no client sends anything', 'give clients, cohorts or inference_perf');
};

export const noServegenFolder: Rule = ({ servegen_data }, fail) => {
  if (servegen_data === undefined) return;
  const hint = "replace it by the output of 'twinyard convert servegen'";
  throw fail('servegen_data', 'a ServeGen folder is not read here', hint);
};

/** inference_perf sets all senders and rates. */
export const inferencePerfStandsAlone: Rule = (spec, fail) => {
  if (spec.inference_perf === undefined) return;
  for (const key of ['clients', 'cohorts', 'aggregate_rate'] as const) {
    if (spec[key] === undefined) continue;
    throw fail(key, 'is given together with inference_perf', 'keep one of them');
  }
};

/** Every member has its own streams and event. */
export const notTooManyClients: Rule = ({ cohorts = [], inference_perf }, fail) => {
  const population = cohorts.reduce((sum, cohort) => sum + cohort.population, 0);
  const hint = `give at most ${MAX_CLIENTS}`;
  if (population > MAX_CLIENTS) throw fail('cohorts', `all cohorts together have ${population} members`, hint);
  const { num_unique_system_prompts = 0, num_users_per_system_prompt = 0 } = inference_perf?.shared_prefix ?? {};
  const users = num_unique_system_prompts * num_users_per_system_prompt;
  if (users <= MAX_CLIENTS) return;
  throw fail('inference_perf.shared_prefix.num_users_per_system_prompt', `that is ${users} users`, hint);
};

/** A user who waits for responses has no rate. */
export const usersHaveNoRate: Rule = (spec, fail) => {
  for (const { path, client } of clientsOf(spec)) {
    if (client.concurrency === undefined) continue;
    const problem = 'contradicts concurrency: such users send when they have their response';
    if (client.rate_fraction !== undefined) throw fail(`${path}.rate_fraction`, problem, 'keep one of them');
    if (client.arrival !== undefined && client.arrival.process !== 'constant') {
      throw fail(`${path}.arrival`, problem, 'leave it out');
    }
    if (client.reasoning?.multi_turn !== undefined) {
      const hint = 'use a separate client for the sessions';
      throw fail(`${path}.reasoning.multi_turn`, 'contradicts concurrency: such users hold no sessions', hint);
    }
    for (const [i, { start_us: _from, end_us: _to, ...own }] of windowsOf(client).entries()) {
      const key = Object.keys(own)[0];
      if (key === undefined) continue;
      throw fail(`${path}.lifecycle.windows[${i}].${key}`, 'has no effect on users who wait', 'leave it out');
    }
  }
};

export const thinkTimeNeedsUsers: Rule = (spec, fail) => {
  for (const { path, client } of clientsOf(spec)) {
    if (client.think_time_us === undefined || client.concurrency !== undefined) continue;
    const hint = 'add concurrency; the pauses of sessions are reasoning.multi_turn.think_time_us';
    throw fail(`${path}.think_time_us`, 'no user waits for a response', hint);
  }
};

/** With no aggregate rate to share, every window needs its own. */
export const absoluteRatesAreComplete: Rule = (spec, fail) => {
  if ((spec.aggregate_rate ?? 0) > 0) return;
  const hint = 'give it, or an aggregate_rate above 0';
  for (const { path, client } of clientsOf(spec)) {
    if (!hasRate(client)) continue;
    const windows = windowsOf(client);
    if (windows.length === 0) {
      throw fail(`${path}.lifecycle`, 'without an aggregate_rate it needs windows with a trace_rate', hint);
    }
    for (const [i, { trace_rate }] of windows.entries()) {
      if (trace_rate !== undefined) continue;
      const problem = 'without an aggregate_rate every window needs a trace_rate';
      throw fail(`${path}.lifecycle.windows[${i}].trace_rate`, problem, hint);
    }
  }
  for (const { path, cohort } of cohortsOf(spec)) {
    if (!hasRate(cohort) || cohort.spike?.trace_rate !== undefined) continue;
    throw fail(`${path}.spike.trace_rate`, 'without an aggregate_rate a cohort needs a spike with a trace_rate', hint);
  }
};

export const windowsAreInOrder: Rule = (spec, fail) => {
  for (const { path, client } of clientsOf(spec)) {
    let before = 0;
    for (const [i, { start_us, end_us }] of windowsOf(client).entries()) {
      const at = `${path}.lifecycle.windows[${i}]`;
      if (end_us <= start_us) {
        throw fail(`${at}.end_us`, `${end_us} is not after start_us ${start_us}`, 'give a later end_us');
      }
      if (start_us < before) {
        const hint = 'put windows in order of time, without overlap';
        throw fail(`${at}.start_us`, `${start_us} is before the window above ends at ${before}`, hint);
      }
      before = end_us;
    }
  }
};

/** Two patterns would contradict each other about when the cohort is active. */
export const onePatternPerCohort: Rule = (spec, fail) => {
  for (const { path, cohort } of cohortsOf(spec)) {
    const [first, second] = (['diurnal', 'spike', 'drain'] as const).filter((key) => cohort[key] !== undefined);
    if (second === undefined) continue;
    throw fail(`${path}.${second}`, `is given together with ${first}`, 'use a cohort for each pattern');
  }
};

/** Ids name clients in results, and their random numbers. */
export const idsAreUnique: Rule = (spec, fail) => {
  const seen = new Map<string, string>();
  const populations = new Map((spec.cohorts ?? []).map(({ id, population }) => [id, population]));
  for (const { path, traffic } of trafficOf(spec)) {
    const before = seen.get(traffic.id);
    const hint = 'give each client and cohort a different id';
    if (before !== undefined) throw fail(`${path}.id`, `'${traffic.id}' is the id of ${before} too`, hint);
    seen.set(traffic.id, path);
    const [, cohort, member] = /^(.*)\/(\d+)$/.exec(traffic.id) ?? [];
    if (member === undefined || Number(member) >= (populations.get(cohort!) ?? 0)) continue;
    throw fail(`${path}.id`, `'${traffic.id}' is a member of the cohort '${cohort}' too`, hint);
  }
};
