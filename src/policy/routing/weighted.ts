import * as v from 'valibot';
import type { InputError } from '../../kernel/errors.js';
import { field } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { explainRule, explainScores, explainTerm } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import { parseScorers, type ScorerWeight } from '../scoring/parse-scorers.js';
import { scorer } from '../scoring/registry.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { blockSizeOption } from './parts/block-size.js';

/** Prefix reuse first, balanced by load and memory. */
export const DEFAULT_SCORERS = 'prefix-affinity:3,queue-depth:2,kv-utilization:2';

interface WeightedOptions {
  scorers: string | readonly ScorerWeight[];
  tie_break: TieBreak;
  block_size: number;
}

const FORMS = 'text like "queue-depth:2,kv-utilization:1", or a list of {name, weight}';

const scorersOption = field(
  v.pipe(
    v.custom<WeightedOptions['scorers']>(
      (value) => typeof value === 'string' || isWeightList(value),
      `must be ${FORMS}`,
    ),
    v.rawCheck(({ addIssue, dataset }) => {
      if (!dataset.typed) return;
      try {
        parseScorers(dataset.value, 'scorers');
      } catch (error) {
        const { hint, problem } = error as InputError;
        addIssue({ message: `${problem}: ${hint}` });
      }
    }),
  ),
  {
    default: DEFAULT_SCORERS,
    accepts: FORMS,
    help: 'scorers and their weights, name:weight pairs; only the ratios of the weights matter',
  },
);

function isWeightList(value: unknown): value is ScorerWeight[] {
  const isPair = ({ name, weight, ...rest }: Partial<ScorerWeight>) =>
    typeof name === 'string' && typeof weight === 'number' && Object.keys(rest).length === 0;
  return Array.isArray(value) && value.every((pair) => typeof pair === 'object' && pair !== null && isPair(pair));
}

export const weighted: RoutingPolicy<WeightedOptions> = {
  name: 'weighted',
  summary: 'Scores every replica in several dimensions and picks the greatest weighted sum.',
  goodFor:
    'Fleets where several things matter at once: prefix reuse, balance, free memory. Tune its scorers and weights.',
  notFor:
    'Traffic where one signal is enough: a plain policy does the same and is easier to explain. With prefix-affinity as its only scorer, requests pile up on one replica.',
  formula: 'greatest sum over scorers of clamp(score, 0, 1) * weight / sum of weights',
  options: { scorers: scorersOption, tie_break: tieBreakOption, block_size: blockSizeOption(0) },
  blockSize: ({ block_size }) => block_size,
  reads: (given) => [...new Set(parseScorers(given.scorers, 'scorers').flatMap(({ name }) => scorer(name).reads))],
  create(given, context) {
    const pairs = parseScorers(given.scorers, 'scorers');
    const totalWeight = pairs.reduce((sum, { weight }) => sum + weight, 0);
    const dimensions = pairs.map(({ name, weight }) => ({
      name,
      share: weight / totalWeight,
      instance: scorer(name).create(context),
    }));
    const sums = new Float64Array(context.replicas);
    const parts = new Float64Array(context.replicas);
    const best = new BestChoice(given.tie_break, context.random);

    return {
      pick(request, view, why) {
        sums.fill(0, 0, view.size);
        for (let d = 0; d < dimensions.length; d++) {
          const { name, share, instance } = dimensions[d]!;
          instance.score(request, view, parts);
          addShare(view, parts, share, sums);
          if (why === undefined) continue;
          explainTerm(why, name, view, parts);
          instance.save?.(view, why.state);
        }
        const chosen = best.among(view, sums);
        if (why !== undefined) {
          explainScores(why, view, sums);
          explainRule(why, chosen, best.tied, 'highest weighted score');
        }
        return chosen;
      },
      restore(state, _request, view) {
        for (let d = 0; d < dimensions.length; d++) dimensions[d]!.instance.restore?.(state, view);
      },
      placed(request, replica, view) {
        for (let d = 0; d < dimensions.length; d++) dimensions[d]!.instance.placed?.(request, replica, view);
      },
      remembered: () => dimensions.reduce((sum, { instance }) => sum + (instance.remembered?.() ?? 0), 0),
    };
  },
};

/** Weights scores and adds them to the sums. */
function addShare(view: FleetView, parts: Float64Array, share: number, sums: Float64Array): void {
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    parts[i] = clamp01(parts[i]!) * share;
    sums[i]! += parts[i]!;
  }
}

/** A score that is not a number must not spoil the sum: it counts as the worst. */
function clamp01(score: number): number {
  return score > 0 ? Math.min(score, 1) : 0;
}
