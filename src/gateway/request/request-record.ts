import type { ApiKind } from '../../protocol/endpoints.js';
import type { RequestFacts } from './request-facts.js';

/** How a request ended, for metrics and logs. `refused`: by a limit, the admission policy or the queue. */
export type Outcome =
  | 'ok'
  | 'client_error'
  | 'upstream_error'
  | 'timeout'
  | 'client_left'
  | 'refused'
  | 'no_replica'
  | 'fault';

/** An attempt that another attempt followed. */
export interface FailedAttempt {
  readonly replicaId: string;
  readonly dispatchedUs: number;
  readonly endedUs: number;
  /** One of a few constants. */
  readonly cause: string;
}

/**
 * A request that has ended, as metrics, logs, traces, recordings and the usage journal see it. They copy numbers and
 * names and never keep the object. Times are the gateway's clock in microseconds, -1 for events that did not happen.
 */
export interface FinishedRequest {
  readonly id: string;
  readonly kind: ApiKind;
  readonly method: string;
  readonly endpoint: { readonly name: string };
  readonly model: string;
  /** Of its API key; both empty where no keys are required. */
  readonly keyId: string;
  readonly tenant: string;
  /** Empty when it belongs to no session. */
  readonly session: string;
  readonly sloClass: string;
  /** Empty when it reached no replica. */
  readonly replicaId: string;
  /** The status sent to the client; 499 when it disconnected before the response began. */
  readonly status: number;
  readonly outcome: Outcome;
  /** Why it failed, one of a few constants; empty when it succeeded. */
  readonly cause: string;
  /** Replicas that were tried. */
  readonly attempts: number;
  readonly isStreamed: boolean;
  readonly arrivedUs: number;
  /** When it was sent to the last replica, and how long it had waited in the queue before. */
  readonly dispatchedUs: number;
  readonly queuedUs: number;
  readonly firstTokenUs: number;
  readonly endedUs: number;
  /** The length of the prompt as the gateway estimates it. */
  readonly promptTokens: number;
  /** As the engine counted them where `isMetered`, else estimated. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly isMetered: boolean;
  /** Of speech and of audio; 0 for requests of other kinds. */
  readonly characters: number;
  readonly audioSeconds: number;
  /** Names it in the usage journal once its running sums were written; 0 before. */
  readonly liveId: number;
  /** For the recording: tokens per block, and the JSON list of the hashed ids of the prompt's blocks. */
  readonly blockSize: number;
  readonly recordedBlocks: string;
  /** Of the last decision; both empty when there was none. */
  readonly policy: string;
  readonly rule: string;
  /** In their order; the last attempt is described by the request itself. */
  readonly failedAttempts: readonly FailedAttempt[];
  /** Requests that its replica had when it was sent there. */
  readonly inFlightBefore: number;
  /** Latencies predicted when it was sent to its replica, in microseconds; NaN where the replica's engine has no profile. */
  readonly predictedTtftUs: number;
  readonly predictedItlUs: number;
}

/** Takes samples of the requests of an engine. */
export interface EngineSampler {
  /** Called once, when the request has ended. */
  finished(request: FinishedRequest): void;
}

const NO_ATTEMPTS: readonly FailedAttempt[] = [];

/**
 * The record of a request under way: the parts of its exchange fill it in, and it is complete when the exchange has
 * ended.
 */
export class RequestRecord implements FinishedRequest {
  readonly facts: RequestFacts;
  readonly endpoint: { readonly name: string };
  replicaId = '';
  status = 0;
  outcome: Outcome = 'ok';
  cause = '';
  attempts = 0;
  isStreamed = false;
  readonly arrivedUs: number;
  dispatchedUs = -1;
  queuedUs = -1;
  firstTokenUs = -1;
  endedUs = -1;
  inputTokens = 0;
  cachedTokens = 0;
  outputTokens = 0;
  reasoningTokens = 0;
  isMetered = false;
  characters = 0;
  audioSeconds = 0;
  liveId = 0;
  blockSize = 0;
  recordedBlocks = '';
  policy = '';
  rule = '';
  failedAttempts = NO_ATTEMPTS;
  inFlightBefore = 0;
  predictedTtftUs = Number.NaN;
  predictedItlUs = Number.NaN;
  /** Of the engine that has it or had it last; null for none. */
  sampler: EngineSampler | null = null;

  constructor(facts: RequestFacts, endpoint: { readonly name: string }, arrivedUs: number) {
    this.facts = facts;
    this.endpoint = endpoint;
    this.arrivedUs = arrivedUs;
  }

  get id(): string {
    return this.facts.id;
  }

  get kind(): ApiKind {
    return this.facts.kind;
  }

  get method(): string {
    return this.facts.method;
  }

  get model(): string {
    return this.facts.model;
  }

  get keyId(): string {
    return this.facts.keyId;
  }

  get tenant(): string {
    return this.facts.tenant;
  }

  get session(): string {
    return this.facts.session;
  }

  get sloClass(): string {
    return this.facts.sloClass;
  }

  get promptTokens(): number {
    return this.facts.inputTokens;
  }
}
