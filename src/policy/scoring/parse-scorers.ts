import { InputError } from '../../kernel/errors.js';
import { badScorerWeight, duplicateScorer, missingScorerWeight, noScorers } from '../errors.js';
import { scorer } from './registry.js';

/** A scorer by name with its share of the sum; only the ratios of the weights matter. */
export interface ScorerWeight {
  name: string;
  weight: number;
}

/** Reads `name:weight,name:weight` or a list of pairs, and checks both in the same way. The order is kept. */
export function parseScorers(given: string | readonly ScorerWeight[], place: string): ScorerWeight[] {
  const pairs = typeof given === 'string' ? splitText(given, place) : given;
  if (pairs.length === 0) throw noScorers(place);
  const seen = new Set<string>();
  const scorers = pairs.map(({ name, weight }) => {
    scorer(name, place);
    if (seen.has(name)) throw duplicateScorer(name, place);
    seen.add(name);
    if (!(weight > 0 && weight < Number.POSITIVE_INFINITY)) throw badScorerWeight(name, String(weight), place);
    return { name, weight };
  });
  if (scorers.reduce((sum, { weight }) => sum + weight, 0) === Number.POSITIVE_INFINITY) {
    const hint = 'write smaller weights: only their ratios matter';
    throw new InputError('BAD_SCORER_WEIGHT', place, 'the sum of the weights is too large', hint);
  }
  return scorers;
}

function splitText(text: string, place: string): ScorerWeight[] {
  if (text.trim() === '') return [];
  return text.split(',').map((pair, i, all) => {
    if (pair.trim() === '') {
      const problem = i === all.length - 1 ? 'the list ends with a comma' : 'a comma has no scorer before it';
      throw new InputError('BAD_SCORER_LIST', place, problem, 'write name:weight pairs with one comma between them');
    }
    const colon = pair.indexOf(':');
    const name = (colon < 0 ? pair : pair.slice(0, colon)).trim();
    const weight = colon < 0 ? '' : pair.slice(colon + 1).trim();
    scorer(name, place);
    if (weight === '') throw missingScorerWeight(name, place);
    if (Number.isNaN(Number(weight))) throw badScorerWeight(name, weight, place);
    return { name, weight: Number(weight) };
  });
}

/** The warning for prefix-affinity as the only scorer: the first replica to see a prefix keeps getting all of its requests. */
export function lonePrefixAffinityWarning(scorers: readonly ScorerWeight[]): string | null {
  if (scorers.length !== 1 || scorers[0]!.name !== 'prefix-affinity') return null;
  return 'prefix-affinity alone piles requests that share a prefix on one replica; add queue-depth or kv-utilization';
}
