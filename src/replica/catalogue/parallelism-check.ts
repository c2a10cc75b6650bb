import { badFlagValue, dataParallelNeedsExperts, unevenTp } from '../errors.js';
import type { ModelSpec } from './contract.js';

/**
 * The model's attention can be split into `tp` parts. More parts than KV heads are possible: each head is then copied.
 */
export function checkParallelism(model: ModelSpec, tp: number, dp: number): void {
  if (!Number.isSafeInteger(tp) || tp < 1) throw badFlagValue('--tp', tp, 'a whole number of at least 1');
  if (!Number.isSafeInteger(dp) || dp < 1) throw badFlagValue('--dp', dp, 'a whole number of at least 1');
  if (dp > 1 && model.experts === 0) throw dataParallelNeedsExperts(dp, model.name);
  if (model.heads % tp !== 0) throw unevenTp(tp, 'attention heads', model.heads, evenSplits(model));
  if (model.kvHeads >= tp) checkKvHeads(model, tp);
}

/** The KV heads can be split into `tp` parts without copies. */
export function checkKvHeads(model: ModelSpec, tp: number): void {
  if (model.kvHeads % tp !== 0) throw unevenTp(tp, 'KV heads', model.kvHeads, evenSplits(model));
}

function evenSplits(model: ModelSpec): number[] {
  const splits: number[] = [];
  for (let tp = 1; tp <= model.kvHeads; tp++) {
    if (model.kvHeads % tp === 0 && model.heads % tp === 0) splits.push(tp);
  }
  return splits;
}
