/** The choices of a shadow about one request. */
export interface ShadowDecision {
  /** Its name. */
  shadow: string;
  policy: string;
  /** What it chose where requests are placed by the policy that serves; null where it would refuse the request. */
  replica: string | null;
  /** How that compares with the choice of the policy that serves. */
  outcome: ShadowOutcome;
  /** What it chose where it had placed all requests before itself. */
  ownReplica: string | null;
  /** Predicted TTFT of its choice minus that of the replica that served, in milliseconds; null where it is not known. */
  ttftDifferenceMs: number | null;
}

/**
 * `same`: the same replica. `tied`: another one that it scores the same, so that a draw decided. `different`: another one.
 * `forced`: there was only one candidate.
 */
export const SHADOW_OUTCOMES = ['same', 'tied', 'different', 'forced'] as const;
export type ShadowOutcome = (typeof SHADOW_OUTCOMES)[number];

export function emptyShadowDecision(): ShadowDecision {
  return { shadow: '', policy: '', replica: null, outcome: 'same', ownReplica: null, ttftDifferenceMs: null };
}

/** Copies a choice without an allocation. */
export function copyShadowDecision(from: ShadowDecision, to: ShadowDecision): void {
  to.shadow = from.shadow;
  to.policy = from.policy;
  to.replica = from.replica;
  to.outcome = from.outcome;
  to.ownReplica = from.ownReplica;
  to.ttftDifferenceMs = from.ttftDifferenceMs;
}
