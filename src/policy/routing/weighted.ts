import { z } from 'zod';
import type { InputError } from '../../kernel/errors.js';
import type { RoutingPolicy } from '../contract.js';
import { parseScorers } from '../scoring/parse-scorers.js';
import { scorer } from '../scoring/registry.js';
import { BestChoice, tieBreakOption } from './best-choice.js';
import { explainRule, explainScores, explainTerm } from './explain.js';

/** Prefix reuse first, balanced by load and memory. */
export const DEFAULT_SCORERS = 'prefix-affinity:3,queue-depth:2,kv-utilization:2';

const scorers = z
  .union([z.string(), z.array(z.strictObject({ name: z.string(), weight: z.number() }))], {
    error: 'scorers must be text like "queue-depth:2,kv-utilization:1" or a list of {name, weight}',
  })
  .superRefine((given, context) => {
    try {
      parseScorers(given, 'scorers');
    } catch (error) {
      const { problem, remedy } = error as InputError;
      context.addIssue({ code: 'custom', message: `${problem}: ${remedy}` });
    }
  })
  .default(DEFAULT_SCORERS)
  .describe('what counts and how much: name:weight pairs; only the ratios of the weights matter');

const options = z.strictObject({ scorers, tie_break: tieBreakOption });

export const weighted: RoutingPolicy<z.infer<typeof options>> = {
  name: 'weighted',
  summary: 'Scores every replica in several dimensions and picks the greatest weighted sum.',
  goodFor:
    'Fleets where several things matter at once: prefix reuse, balance, free memory. Its scorers and weights are the place to tune.',
  notFor:
    'Traffic where one signal says it all: a plain policy then does the same and is easier to explain. prefix-affinity as its only scorer piles requests on one replica.',
  formula: 'greatest sum over scorers of clamp(score, 0, 1) * weight / sum of weights',
  options,
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
        sums.fill(0);
        for (const { name, share, instance } of dimensions) {
          instance.score(request, view, parts);
          for (let i = 0; i < view.size; i++) {
            if (view.eligible[i] === 0) continue;
            parts[i] = clamp01(parts[i]!) * share;
            sums[i]! += parts[i]!;
          }
          if (why !== undefined) explainTerm(why, name, view, parts);
        }
        const chosen = best.among(view, sums);
        if (why !== undefined) {
          explainScores(why, view, sums);
          explainRule(why, chosen, best.tied, 'highest weighted score');
        }
        return chosen;
      },
      placed(request, replica) {
        for (const { instance } of dimensions) instance.placed?.(request, replica);
      },
    };
  },
};

/** A signal that is not a number must not poison the sum: it counts as the worst score. */
function clamp01(score: number): number {
  return score > 0 ? Math.min(score, 1) : 0;
}
