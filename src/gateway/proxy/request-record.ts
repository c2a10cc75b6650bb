import type { ApiKind } from '../../protocol/endpoints.js';
import type { Endpoint } from '../fleet/endpoint.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { FailedTry, ObservedRequest } from '../telemetry/observed-request.js';
import type { Outcome } from './exchange-host.js';

const NO_TRIES: readonly FailedTry[] = [];

/** What is noted of a request on its way, for those who count and record it when it has ended. */
export class RequestRecord implements ObservedRequest {
  readonly facts: RequestFacts;
  readonly endpoint: Endpoint;
  /** Who has it, or had it last. */
  replica: LiveReplica | null = null;
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
  blockSize = 0;
  recordedBlocks = '';
  policy = '';
  rule = '';
  failedTries: FailedTry[] | readonly FailedTry[] = NO_TRIES;

  constructor(facts: RequestFacts, endpoint: Endpoint, arrivedUs: number) {
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

  get replicaId(): string {
    return this.replica?.id ?? '';
  }

  /** A try has failed, and another follows. */
  protected noteFailedTry(cause: string, endedUs: number): void {
    const failed = { replicaId: this.replicaId, dispatchedUs: this.dispatchedUs, endedUs, cause };
    this.failedTries = [...this.failedTries, failed];
  }
}
