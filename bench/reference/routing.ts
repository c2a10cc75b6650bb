import type { PolicyChoice } from '../../src/simulator/cluster-config.js';
import type { ReferenceRequest } from './request.js';
import { type ReferenceScorer, SCORERS } from './scorers.js';
import { effectiveLoad, type RouterState } from './snapshots.js';

/** Where a request goes, and how much better the best candidate looked. */
export interface RoutingDecision {
  target: number;
  regret: number;
}

export interface ReferenceRouter {
  /** At least one candidate is given. */
  decide(request: ReferenceRequest, state: RouterState): RoutingDecision;
}

const DEFAULT_SCORERS = 'prefix-affinity:3,queue-depth:2,kv-utilization:2';

/** Place of the greatest value; the first one wins ties. */
function firstGreatest(values: readonly number[]): number {
  let best = 0;
  values.forEach((value, place) => {
    if (value > values[best]!) best = place;
  });
  return best;
}

function decision(state: RouterState, scores: readonly number[], place: number): RoutingDecision {
  return { target: state.candidates[place]!.index, regret: Math.max(...scores) - scores[place]! };
}

/** Policies without scores of their own are judged by how little load the target has. */
function lightness(state: RouterState): number[] {
  return state.candidates.map((candidate) => -effectiveLoad(candidate));
}

function roundRobin(): ReferenceRouter {
  let turn = 0;
  return { decide: (_request, state) => decision(state, lightness(state), turn++ % state.candidates.length) };
}

const leastLoaded: ReferenceRouter = {
  decide: (_request, state) => decision(state, lightness(state), firstGreatest(lightness(state))),
};

const alwaysBusiest: ReferenceRouter = {
  decide: (_request, state) =>
    decision(state, lightness(state), firstGreatest(state.candidates.map((candidate) => effectiveLoad(candidate)))),
};

function weighted(list: string): ReferenceRouter {
  const scorers = list.split(',').map((entry) => {
    const [name = '', weight] = entry.split(':').map((part) => part.trim());
    const create = SCORERS[name];
    if (create === undefined) throw new Error(`the reference has no scorer '${name}'`);
    return { scorer: create() satisfies ReferenceScorer, weight: Number(weight) };
  });
  const total = scorers.reduce((sum, { weight }) => sum + weight, 0);
  return {
    decide: (request, state) => {
      const sums = state.candidates.map(() => 0);
      for (const { scorer, weight } of scorers) {
        scorer.score(request, state).forEach((score, place) => {
          sums[place]! += Math.min(1, Math.max(0, score)) * (weight / total);
        });
      }
      const chosen = decision(state, sums, firstGreatest(sums));
      for (const { scorer } of scorers) scorer.placed?.(request, chosen.target);
      return chosen;
    },
  };
}

export function createRouter({ policy, options }: PolicyChoice): ReferenceRouter {
  switch (policy) {
    case 'round-robin':
      return roundRobin();
    case 'least-loaded':
      return leastLoaded;
    case 'always-busiest':
      return alwaysBusiest;
    case 'weighted':
      return weighted(String(options.scorers ?? DEFAULT_SCORERS));
    default:
      throw new Error(`the reference has no routing policy '${policy}'`);
  }
}
