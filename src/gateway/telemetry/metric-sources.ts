import type { ObservedEngines } from '../prediction/observed-engines.js';
import type { ProfileBook } from '../prediction/profile-book.js';
import type { GatewayMetrics } from './gateway-metrics.js';
import type { ProcessMetrics } from './process-metrics.js';
import type { ShadowFigures } from './shadow-figures.js';

/** The state of a gateway that its metrics read. */
export interface GatewayView {
  readonly metrics: GatewayMetrics;
  readonly inFlight: number;
  readonly endpoints: ReadonlyMap<string, EndpointView>;
  /** The decision log. */
  readonly log: { readonly isBroken: boolean } | null;
  nowUs(): number;
}

export interface EndpointView {
  readonly name: string;
  readonly policy: { readonly name: string };
  readonly policyHash: string;
  readonly inFlight: number;
  /** Null where its replicas are not found in a cluster. */
  readonly discovery: { readonly problem: string | null } | null;
  readonly replicas: readonly ReplicaView[];
  inFlightOf(replica: ReplicaView): number;
  /** Why it is suspect; empty when it is trusted. */
  suspicionOf(replica: ReplicaView): string;
}

export interface ReplicaView {
  readonly id: string;
  readonly state: string;
  readonly active: number;
  readonly sent: number;
  readonly breaker: { readonly isOpen: boolean };
  readonly signals: { readonly atUs: number } | null;
}

/** Admission and the queue in front of an endpoint. */
export interface FlowView {
  /** Requests in the queue now. */
  readonly waiting: number;
  readonly counts: {
    readonly admitted: number;
    /** By the admission policy, by reasons that are constants. */
    readonly refused: ReadonlyMap<string, number>;
    readonly rejected: number;
    readonly shed: number;
    readonly expired: number;
    readonly left: number;
    readonly turnedOut: number;
  };
}

/** Predicted latencies and the profiles behind them. */
export interface PredictionView {
  readonly observed: ObservedEngines;
  /** Null where none are fitted. */
  readonly profiles: ProfileBook | null;
}

/** Keys and limits. */
export interface AccessView {
  /** How many requests each kind of limit has refused. */
  readonly limited: Readonly<Record<string, number>>;
  readonly wrongKeys: number;
  /** Where the accounts are kept, as a label. */
  readonly mode: string;
  readonly storeFailures: number;
}

/** The journal of usage that is not in the store yet. */
export interface JournalCounts {
  readonly faults: number;
  readonly pending: number;
}

/** Requests on their way into the store. */
export interface KeptCounts {
  readonly written: number;
  readonly dropped: number;
}

/** A file of lines. */
export interface LineCounts {
  readonly written: number;
  readonly dropped: number;
  readonly isBroken: boolean;
}

/** Spans on their way to a collector. */
export interface SpanCounts {
  readonly exported: number;
  readonly failed: number;
  readonly dropped: number;
}

/**
 * The parts of a gateway that count for themselves. Those that are switched off are left out, and so are their metrics.
 */
export interface MetricParts {
  /** By the endpoint's name. */
  readonly flow?: ReadonlyMap<string, FlowView>;
  /** What shadow policies found, by the endpoint's name. */
  readonly shadows?: ReadonlyMap<string, readonly ShadowFigures[]>;
  readonly prediction?: PredictionView;
  readonly access?: AccessView;
  readonly journal?: JournalCounts;
  readonly kept?: KeptCounts;
  /** By the name of the log: `traffic`, `access`. */
  readonly logs?: ReadonlyMap<string, LineCounts>;
  readonly spans?: SpanCounts;
  /** The ports. */
  readonly listeners?: readonly { readonly dropped: number; readonly tlsFailures: number }[];
  readonly process?: ProcessMetrics;
}
