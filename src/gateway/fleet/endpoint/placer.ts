import type { RandomStream } from '../../../kernel/random-stream.js';
import { createExplanation } from '../../../policy/explanation.js';
import { policyStream } from '../../../policy/host/policy-streams.js';
import type { HostedPrediction } from '../../../policy/host/prediction/hosted-prediction.js';
import type { Lateness } from '../../../policy/host/suspicion.js';
import type { DecidingFleet, DecisionInput } from '../../decisions/deciding-fleet.js';
import type { DecisionWatch } from '../../decisions/decision-observer.js';
import type { Decision } from '../../decisions/decision-ring.js';
import type { EndpointLog } from '../../decisions/endpoint-log.js';
import { refusedEntry } from '../../errors.js';
import type { FlowControl } from '../../flow/flow-control.js';
import type { MeasuredPrompt } from '../../request/measured-prompt.js';
import type { RequestFacts } from '../../request/request-facts.js';
import type { LiveReplica } from '../replica/live-replica.js';
import { findRemovals } from './eligibility.js';
import type { EndpointHost } from './endpoint-host.js';
import { FirstByteWork } from './first-byte-work.js';
import { applyShares } from './request-shares.js';
import { Suspects } from './suspects.js';

const NO_HOSTS: readonly string[] = [];
const UNKNOWN_TIME = Number.NaN;
/** When a client may try again that the policy refused: other requests may have ended by then. */
const RETRY_AFTER_S = 1;

/** A request on a replica: to be finished once when it has ended there. */
export interface PlacedRequest {
  readonly request: number;
  readonly replica: LiveReplica;
  /** Replicas that were tried before. */
  readonly attempt: number;
  hasFirstToken: boolean;
  /** Not finished yet. */
  isOpen: boolean;
}

export interface PlacerParts {
  endpoint: string;
  host: EndpointHost;
  fleet: DecidingFleet;
  prompt: MeasuredPrompt;
  flow: FlowControl;
  /** Null where decisions are not logged. */
  log: EndpointLog | null;
  watch: DecisionWatch;
}

/** Decides which of an endpoint's replicas takes a request, and counts the requests on them. */
export class Placer {
  /** Set by the endpoint. */
  replicas: readonly LiveReplica[] = [];
  /** Requests on replicas. */
  inFlight = 0;
  /** How the last decision was made, in a few words. */
  lastRule = '';
  /** Why the policy refused the last request, null if it did not. */
  refusal: string | null = null;
  /** Requests that replicas have failed. */
  readonly suspects = new Suspects();
  readonly #parts: PlacerParts;
  readonly #work = new FirstByteWork();
  /** Draws by weight; null while all replicas have the same tier and weight. */
  #shares: RandomStream | null = null;
  #why = createExplanation(0);
  readonly #removed: (string | null)[] = [];
  readonly #input: DecisionInput;
  readonly #decision: Decision;
  /** The metrics row for decisions of the present policy; -1 before the first. */
  #decisionRow = -1;
  /** Numbers of ended requests, for reuse. */
  readonly #freeNumbers: number[] = [];
  #numbers = 0;

  constructor(parts: PlacerParts) {
    this.#parts = parts;
    const { endpoint, prompt } = parts;
    this.#decision = { facts: { id: '', session: '', inputTokens: 0 }, endpoint, atUs: 0, blockCount: 0, attempt: 0 };
    this.#input = {
      ...{ nowUs: 0, id: '', inputTokens: 0, session: '', tenant: '', streams: true },
      ...{ sloClass: '', sloTtftUs: 0, sloTpotUs: 0 },
      ...{ body: null, blocks: prompt.blocks, blockCount: 0, removed: this.#removed },
    };
  }

  /** @param hasShares whether replicas differ in tier or weight */
  setReplicas(replicas: readonly LiveReplica[], hasShares: boolean): void {
    if (replicas.length !== this.replicas.length) this.#why = createExplanation(replicas.length);
    this.replicas = replicas;
    const { endpoint, host } = this.#parts;
    if (!hasShares) this.#shares = null;
    else this.#shares ??= policyStream(host.config.seed, `weights/${endpoint}`);
  }

  policyChanged(): void {
    this.#decisionRow = -1;
  }

  /**
   * Decides where a request goes and books it there; null when no replica may take it. Throws an ApiError when the
   * request is not worth a decision or the policy refuses it.
   * @param tried replicas that have failed the request
   * @param brokenHosts hosts of those that broke off
   */
  place(
    facts: RequestFacts,
    attempt: number,
    tried: readonly LiveReplica[],
    brokenHosts: readonly string[] = NO_HOSTS,
  ): PlacedRequest | null {
    const { fleet, host, log, watch } = this.#parts;
    const { replicas } = this;
    const number = this.#freeNumbers.at(-1) ?? this.#numbers;
    const nowUs = host.nowUs();
    this.refusal = null;
    const input = this.#measured(facts, nowUs);
    const { slowStartMs } = host.config;
    const { inFlight } = fleet.view;
    findRemovals(replicas, facts.model, nowUs / 1000, tried, brokenHosts, inFlight, slowStartMs, this.#removed);
    if (facts.pinnedTo !== '') this.#pin(facts.pinnedTo);
    // A request that has failed once is not used as a probe.
    fleet.suspicion.remove(this.#removed, nowUs, attempt === 0);
    if (this.#shares !== null) applyShares(replicas, this.#removed, this.#shares);
    const why = this.#why;
    const chosen = fleet.choose(input, why);
    if (chosen >= 0) {
      // Null unless shadows follow the endpoint.
      watch.observer?.decided(host.ring.added + 1, number, chosen, input, facts, fleet);
      fleet.book(number, chosen, input.streams);
    }
    log?.request(number, chosen, input, fleet);
    const decision = this.#decision;
    decision.facts = facts;
    decision.atUs = nowUs;
    decision.blockCount = input.blockCount;
    decision.attempt = attempt;
    host.ring.add(decision, fleet, chosen, why);
    this.lastRule = why.rule;
    this.refusal = chosen < 0 ? fleet.host.refusal : null;
    if (this.refusal !== null) throw refusedEntry(this.refusal, RETRY_AFTER_S);
    if (chosen < 0) return null;
    const work = this.#work.measure(facts, fleet.view.pendingPrefillTokens[chosen]!, attempt);
    fleet.suspicion.placed(number, chosen, work, nowUs);
    return this.#open(replicas[chosen]!, attempt);
  }

  /** Predictions of requests on replicas. */
  get prediction(): HostedPrediction {
    return this.#parts.fleet.host.prediction;
  }

  /** Why replicas could not take the last request, each reason once; empty when there were none. */
  get lastRemovals(): string {
    return [...new Set(this.#removed.filter((reason) => reason !== null))].join('; ');
  }

  /** @param isServed it begins a successful response */
  firstToken(placed: PlacedRequest, isServed: boolean): void {
    if (placed.hasFirstToken) return;
    placed.hasFirstToken = true;
    const { fleet, host, log, watch } = this.#parts;
    const nowUs = host.nowUs();
    // The first byte of an error says nothing of how fast the replica computes.
    const atUs = isServed ? nowUs : UNKNOWN_TIME;
    fleet.suspicion.firstByte(placed.request, isServed, nowUs);
    log?.firstToken(placed.request, atUs);
    watch.observer?.firstToken(placed.request, nowUs);
    fleet.firstToken(placed.request, atUs);
  }

  /** Whether a request without a first byte should be tried elsewhere. */
  lateness({ request }: PlacedRequest, nowUs: number): Lateness {
    return this.#parts.fleet.suspicion.lateness(request, nowUs);
  }

  /** The replica failed the request; called before `finish`. */
  failed({ replica, request }: PlacedRequest): void {
    const nowMs = this.#parts.host.nowUs() / 1000;
    replica.breaker.failed(request, nowMs);
    replica.blamed(nowMs);
  }

  /** The replica failed a request that has left it. */
  failedBefore(replica: LiveReplica): void {
    const nowMs = this.#parts.host.nowUs() / 1000;
    replica.breaker.failedBefore(nowMs);
    replica.blamed(nowMs);
  }

  /** The replica served the request. */
  succeeded({ replica, request }: PlacedRequest, body: Buffer): void {
    replica.breaker.succeeded(request, this.#parts.host.nowUs() / 1000);
    if (this.suspects.size > 0) this.suspects.clear(body);
  }

  /**
   * The request has ended on its replica; further calls do nothing.
   * @param outputTokens of its response, 0 when unknown
   */
  finish(placed: PlacedRequest, outputTokens = 0): void {
    if (!placed.isOpen) return;
    placed.isOpen = false;
    const { fleet, flow, host, log, watch } = this.#parts;
    const { replica, request } = placed;
    const nowUs = host.nowUs();
    if (!placed.hasFirstToken) fleet.suspicion.left(request, nowUs);
    log?.done(request, nowUs, outputTokens);
    watch.observer?.ended(request, nowUs);
    fleet.finished(request, nowUs, outputTokens);
    replica.breaker.released(request);
    this.#freeNumbers.push(request);
    this.inFlight--;
    replica.finished();
    flow.departed();
  }

  #pin(id: string): void {
    for (const [slot, replica] of this.replicas.entries()) {
      if (replica.id !== id) this.#removed[slot] ??= 'does not hold the response';
    }
  }

  #open(replica: LiveReplica, attempt: number): PlacedRequest {
    const { endpoint, fleet, host } = this.#parts;
    const { decisions } = host.metrics;
    const request = this.#freeNumbers.pop() ?? this.#numbers++;
    if (replica.breaker.isOpen) replica.breaker.placed(request);
    replica.active++;
    replica.sent++;
    replica.sentSinceReport++;
    this.inFlight++;
    if (this.#decisionRow < 0) this.#decisionRow = host.metrics.decisionRow(endpoint, fleet.config.name);
    decisions.values[this.#decisionRow]!++;
    return { request, replica, attempt, hasFirstToken: false, isOpen: true };
  }

  #measured(facts: RequestFacts, nowUs: number): DecisionInput {
    const { fleet, prompt } = this.#parts;
    prompt.measure(facts, fleet.blockSize);
    prompt.release();
    const input = this.#input;
    input.nowUs = nowUs;
    input.id = facts.id;
    input.inputTokens = facts.inputTokens;
    input.session = facts.session;
    input.sloClass = facts.sloClass;
    input.sloTtftUs = facts.sloTtftUs;
    input.sloTpotUs = facts.sloTpotUs;
    input.tenant = facts.tenant;
    input.streams = facts.streams;
    input.body = fleet.readsBody ? facts.body.parsed() : null;
    input.blocks = prompt.blocks;
    input.blockCount = prompt.blockCount;
    return input;
  }
}
