/** What a shadow of an endpoint found since it began, or since the policy that serves was last changed. */
export interface ShadowFigures {
  readonly name: string;
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the configuration has it, or it was added by the API. */
  readonly source: 'configuration' | 'added';
  /** The routing policy that serves. */
  readonly servingPolicy: string;
  /** In the gateway's microseconds. */
  readonly sinceUs: number;
  /** Decisions that it did not make, because the gateway had no time for them. */
  readonly dropped: number;
  /** Where requests are placed by the policy that serves: how often it would decide otherwise. */
  readonly onRealPlacements: readonly ClassOutcomes[];
  /** Where it had placed all requests itself: what the fleet would have become. */
  readonly onOwnPlacements: readonly ClassOutcomes[];
  /**
   * The share of prompt tokens that had been sent to the chosen replica before, by the real placements and by its own, over about the
   * last thousand decisions; null before the first.
   */
  readonly knownPrefix: { readonly real: number; readonly own: number } | null;
  readonly ttft: TtftDifference;
  /** Predicted TTFT of all decisions that have both: on the real placements, and on its own. */
  readonly predicted: { readonly count: number; readonly realUs: number; readonly ownUs: number };
}

/** Decisions of an SLO class, by outcome. */
export interface ClassOutcomes {
  readonly sloClass: string;
  readonly same: number;
  readonly tied: number;
  readonly different: number;
  readonly forced: number;
}

/** Predicted TTFT of its choice minus that of the replica that served, over the decisions that differ. */
export interface TtftDifference {
  /** Differing decisions with a prediction for both replicas. */
  readonly count: number;
  /** Where its choice would have been faster, and where it would have been slower. */
  readonly gainedUs: number;
  readonly lostUs: number;
}

/** The share of decisions with several candidates in which it chose the same replica or one that it scores the same. */
export function agreementOf(classes: readonly ClassOutcomes[]): number | null {
  let agreed = 0;
  let all = 0;
  for (const { different, same, tied } of classes) {
    agreed += same + tied;
    all += same + tied + different;
  }
  return all === 0 ? null : agreed / all;
}
