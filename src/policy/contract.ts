import type { RandomStream } from '../kernel/random-stream.js';
import type { Explanation } from './explanation.js';
import type { FleetSignal, FleetView, Signal } from './fleet-view.js';
import type { OptionSchema } from './options.js';
import type { PickState } from './pick-state.js';
import type { RequestFeatures } from './request-features.js';

/** What a policy gets from its host besides its options. */
export interface PolicyContext {
  /** The policy's own stream: the only randomness it may use. */
  random: RandomStream;
  /** The most replicas that the host ever shows at once. */
  replicas: number;
}

/** The description of a policy: the source of its page in `docs/policies`. */
interface Description {
  name: string;
  /** One sentence for help texts and tables. */
  summary: string;
  /** When it is the right choice, and when it is not. */
  goodFor: string;
  notFor: string;
  /** The whole rule in one line. */
  formula: string;
}

interface PolicyFacts<Options> extends Description {
  /** Validates options, fills in defaults, and documents both. */
  options: OptionSchema<Options>;
  /** The signals that it needs with these options; the host provides no others. */
  reads(options: Options): readonly Signal[];
}

/** Chooses a replica. Pure in (request, view, own state, random stream): no I/O, no clock, no Math.random. */
export interface RoutingPolicy<Options = unknown> extends PolicyFacts<Options> {
  /** Tokens per block of the router's index; absent or 0: those of the replicas' KV blocks. */
  blockSize?(options: Options): number;
  create(options: Options, context: PolicyContext): RoutingPicker;
}

export interface RoutingPicker {
  /** Why the last pick refused the request although replicas were eligible; null when it did not. Absent: it never does. */
  readonly refusal?: string | null;
  /**
   * The slot of the chosen replica, or -1 when none is eligible or the policy refuses the request. Allocates nothing and changes
   * nothing but counters that are part of the rule itself (whose turn it is). With `why`, it makes the same choice, explains it, and
   * saves in `why.state` what it depended on besides its arguments and the random stream.
   */
  pick(request: RequestFeatures, view: FleetView, why?: Explanation): number;
  /**
   * The next pick is made from a state that an earlier pick saved, perhaps of another picker with the same options. Only pickers that
   * serve no requests are called so. Absent where a pick depends on nothing but its arguments and the random stream.
   */
  restore?(state: PickState, request: RequestFeatures, view: FleetView): void;
  /** The request went to this replica. Stateful policies learn here, never inside `pick`. */
  placed?(request: RequestFeatures, replica: number, view: FleetView): void;
  /** Entries that a stateful picker holds in memory: bounded for any traffic. */
  remembered?(): number;
}

/** Decides whether a request is admitted. */
export interface AdmissionPolicy<Options = unknown> extends PolicyFacts<Options> {
  /** Set by a policy that never refuses: the host then neither measures prompts nor looks at the fleet for it. */
  admitsAll?: true;
  reads(options: Options): readonly FleetSignal[];
  create(options: Options, context: PolicyContext): AdmissionGate;
}

/** What a request lacked to be admitted: how much there was of it, and how much there has to be. */
export interface Shortfall {
  /** For display: 'tokens in the bucket'. */
  readonly name: string;
  readonly value: number;
  readonly needed: 'at least' | 'at most' | 'below';
  readonly bound: number;
}

export interface AdmissionGate {
  /** Why the request is refused, or null to admit it. Reasons are constants: they are counted by text. */
  refuse(request: RequestFeatures, view: FleetView): string | null;
  /**
   * After how many microseconds the request that was just refused would be admitted if no other arrived: Infinity for never, NaN
   * when unknown. Absent where it is never known.
   */
  retryAfterUs?(request: RequestFeatures): number;
  /** What the request lacked that was just refused. Absent where the policy cannot tell. */
  shortfall?(request: RequestFeatures, view: FleetView): Shortfall;
}

/** One dimension of the `weighted` policy. */
export interface Scorer extends Description {
  reads: readonly Signal[];
  create(context: PolicyContext): ScorerInstance;
}

export interface ScorerInstance {
  /** Writes a score in [0, 1] for every eligible replica; other slots are left unchanged. */
  score(request: RequestFeatures, view: FleetView, scores: Float64Array): void;
  /** As of a picker: what the last `score` depended on besides its arguments, and scores from such a state. */
  save?(view: FleetView, state: PickState): void;
  restore?(state: PickState, view: FleetView): void;
  placed?(request: RequestFeatures, replica: number, view: FleetView): void;
  remembered?(): number;
}
