import type { ApiKind } from '../../protocol/endpoints.js';
import { tokensOfBytes } from '../../protocol/token-estimate.js';
import type { Endpoint } from '../fleet/endpoint.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { ResponseMeter } from '../metering/response-meter.js';
import type { TrafficRecorder } from '../recording/traffic-recorder.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
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
  #lastPieceUs = 0;
  /** Where the metrics count the time between pieces of its endpoint. */
  #gaps = -1;

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

  /** A piece of a stream has come. */
  protected notePiece(nowUs: number, metrics: GatewayMetrics): void {
    if (this.firstTokenUs < 0) {
      this.firstTokenUs = nowUs;
      this.#gaps = metrics.endpointIndex(this.endpoint.name);
    } else metrics.observeGap(this.#gaps, nowUs - this.#lastPieceUs);
    this.#lastPieceUs = nowUs;
  }

  /**
   * How many tokens it used: what the engine says, else what was seen. A request that was refused or failed used none.
   * @param bytes that have come of its response
   */
  protected noteUse(meter: ResponseMeter, bytes: number, isWhole: boolean): void {
    const hasWorked = bytes > 0 ? this.status < 400 : this.outcome === 'client_left' && this.attempts > 0;
    if (!hasWorked) return;
    const bytesOut = this.facts.mostOutput === 0 ? 0 : bytes;
    meter.finish(isWhole, this.facts.inputTokens, tokensOfBytes(bytesOut));
    this.inputTokens = meter.inputTokens;
    this.cachedTokens = meter.cachedTokens;
    this.outputTokens = meter.outputTokens;
    this.reasoningTokens = meter.reasoningTokens;
    this.isMetered = meter.isMetered;
  }

  /** The prompt that was measured last is this request's. */
  protected noteBlocks(recorder: TrafficRecorder): void {
    const { blockSize, prompt } = this.endpoint;
    this.blockSize = blockSize;
    this.recordedBlocks = recorder.blocksOf(prompt.blockWords, prompt.blockCount);
  }

  /** What was kept out has come all the same: with other limits it might get in. */
  protected noteKeptOut(recorder: TrafficRecorder): void {
    if (this.recordedBlocks !== '') return;
    try {
      this.endpoint.tokensOf(this.facts);
      this.noteBlocks(recorder);
    } catch {
      // A prompt that cannot be measured is recorded without its blocks.
    }
  }

  /** A try has failed, and another follows. */
  protected noteFailedTry(cause: string, endedUs: number): void {
    const failed = { replicaId: this.replicaId, dispatchedUs: this.dispatchedUs, endedUs, cause };
    this.failedTries = [...this.failedTries, failed];
  }
}
