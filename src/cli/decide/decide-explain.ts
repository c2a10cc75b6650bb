import type { Explanation, NamedColumns } from '../../policy/explanation.js';
import { flipLine } from '../../policy/flip/flip-record.js';
import { completeScores, regretOf } from '../../policy/host/decision-scores.js';
import type { PolicyHost } from '../../policy/host/policy-host.js';
import { hitTokens } from '../../policy/request-features.js';

/**
 * Why a replica was chosen, as `--explain` prints it. Call it before the request is placed, so that it shows what the decision
 * saw.
 */
export function explainedDecision(host: PolicyHost, chosen: number, why: Explanation): object {
  const { features, view } = host;
  const flip = flipLine(host.findFlip(chosen, why), view.ids);
  completeScores(why, view);
  const scores = Array.from(why.scores.subarray(0, view.size));
  const regret = regretOf(why, view, chosen);
  const named = (columns: NamedColumns, slot: number) =>
    Object.fromEntries(columns.names().map((name, column) => [name, columns.at(column)[slot]!]));
  const replicas = scores.map((score, i) => ({
    id: view.ids[i]!,
    score,
    ...(why.terms.size === 0 ? {} : { terms: named(why.terms, i) }),
    ...(why.facts.size === 0 ? {} : { facts: named(why.facts, i) }),
    ...(why.removed.has(i) ? { removed: why.removed.get(i) } : {}),
    queued: view.queued[i]!,
    running: view.running[i]!,
    kv_utilization: view.kvUsed[i]!,
    in_flight: view.inFlight[i]!,
    ongoing_tokens: view.ongoingTokens[i]!,
    pending_prefill_tokens: view.pendingPrefillTokens[i]!,
    ongoing_decode_tokens: view.ongoingDecodeTokens[i]!,
    hit_tokens: hitTokens(features, i),
    indexed_blocks: view.indexedBlocks[i]!,
  }));
  return { rule: why.rule, tied: why.tied, regret, flip, replicas };
}
