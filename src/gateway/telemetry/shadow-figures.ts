/**
 * What a shadow of an endpoint found since it began, or since the policy that serves was last changed. Shares and means are of all
 * requests: a decision stands for those, near it in time, whose decisions were dropped.
 */
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
  /** Decisions that it did not make, because the gateway had no time for them; and those of them while the gateway was busy. */
  readonly dropped: number;
  readonly droppedBusy: number;
  /** Why it stopped, null while it runs. */
  readonly stopped: { readonly atUs: number; readonly problem: string } | null;
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
  /** Predicted TTFT of the requests that decisions with both stand for: on the real placements, and on its own. */
  readonly predicted: { readonly count: number; readonly realUs: number; readonly ownUs: number };
}

/** Decisions of an SLO class, by outcome. */
export interface ClassOutcomes {
  readonly sloClass: string;
  readonly same: number;
  readonly tied: number;
  readonly different: number;
  readonly forced: number;
  /** Requests with several candidates that these decisions stand for, and those of them in which it agrees. */
  readonly compared: number;
  readonly agreed: number;
}

/** Predicted TTFT of its choice minus that of the replica that served, over the decisions that differ. */
export interface TtftDifference {
  /** Differing decisions with a prediction for both replicas. */
  readonly count: number;
  /** Where its choice would have been faster, and where it would have been slower. */
  readonly gainedUs: number;
  readonly lostUs: number;
  /** The mean over the requests that they stand for; null before the first. */
  readonly meanUs: number | null;
}

/** The share of decisions with several candidates in which it chose the same replica or one that it scores the same. */
export function agreementOf(classes: readonly ClassOutcomes[]): number | null {
  let agreed = 0;
  let compared = 0;
  for (const one of classes) {
    agreed += one.agreed;
    compared += one.compared;
  }
  return compared === 0 ? null : agreed / compared;
}
