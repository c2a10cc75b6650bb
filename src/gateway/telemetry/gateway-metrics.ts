import type { Exposition } from '../../protocol/prometheus/exposition.js';
import type { FinishedRequest } from '../request/request-record.js';
import { Counter } from './counter.js';
import { DurationHistogram, GAP_BUCKETS_US, LATENCY_BUCKETS_US } from './duration-histogram.js';
import { LabelAxis, OTHER, PairAxis } from './label-axis.js';
import { FAMILIES } from './metric-families.js';
import { ReplicaCounts } from './replica-counts.js';

/** Values with their own label; the rest is `other`. Keys, sessions and request ids are never labels. */
const MOST_ENDPOINTS = 50;
const MOST_MODELS = 200;
const MOST_POLICIES = 200;
const MOST_OUTCOMES = 16;
const STATUS_CLASSES = [OTHER, '1xx', '2xx', '3xx', '4xx', '5xx'];
const MOST_STATUSES = 50;

/**
 * Counts events for `/metrics`. Methods called for each request or piece only look names up and allocate nothing.
 */
export class GatewayMetrics {
  readonly replicas = new ReplicaCounts();
  retries = 0;
  /** Requests that failed because of a bug in the gateway. */
  faults = 0;
  /** The control plane of this process; null where there is none. */
  control: { readonly isLeading: boolean } | null = null;
  readonly #endpoints = new LabelAxis('endpoint', MOST_ENDPOINTS);
  readonly #models = new PairAxis(this.#endpoints, 'model', MOST_MODELS);
  readonly #policies = new PairAxis(this.#endpoints, 'policy', MOST_POLICIES);
  readonly #outcomes = new LabelAxis('outcome', MOST_OUTCOMES);
  readonly #classes = new LabelAxis('status', STATUS_CLASSES.length);
  readonly #statuses = new LabelAxis('status', MOST_STATUSES);
  readonly #requests = new Counter(FAMILIES.requests, [this.#models, this.#outcomes, this.#classes]);
  readonly #refused = new Counter(FAMILIES.refused, [this.#statuses]);
  readonly #firstToken = new DurationHistogram(FAMILIES.firstToken, this.#endpoints, LATENCY_BUCKETS_US);
  readonly #gap = new DurationHistogram(FAMILIES.gap, this.#endpoints, GAP_BUCKETS_US);
  readonly #duration = new DurationHistogram(FAMILIES.duration, this.#endpoints, LATENCY_BUCKETS_US);
  readonly #queueTime = new DurationHistogram(FAMILIES.queueTime, this.#endpoints, LATENCY_BUCKETS_US);
  readonly #inputTokens = new Counter(FAMILIES.inputTokens, [this.#models]);
  readonly #cachedTokens = new Counter(FAMILIES.cachedTokens, [this.#models]);
  readonly #outputTokens = new Counter(FAMILIES.outputTokens, [this.#models]);
  readonly #reasoningTokens = new Counter(FAMILIES.reasoningTokens, [this.#models]);
  readonly #unmetered = new Counter(FAMILIES.unmetered, [this.#models]);
  readonly #characters = new Counter(FAMILIES.speechCharacters, [this.#models]);
  readonly #audioSeconds = new Counter(FAMILIES.audioSeconds, [this.#models]);
  /** Replicas chosen, by `decisionRow`. */
  readonly decisions = new Counter(FAMILIES.decisions, [this.#policies]);

  /** Endpoints that something was counted for, also former ones. */
  get endpointNames(): readonly string[] {
    return this.#endpoints.values;
  }

  /** The number of an endpoint, for `observeGap`. */
  endpointIndex(name: string): number {
    return this.#endpoints.index(name);
  }

  /** A further piece of a stream has arrived, this long after the one before. */
  observeGap(endpointIndex: number, gapUs: number): void {
    this.#gap.observe(endpointIndex, gapUs);
  }

  /** The row of a policy of an endpoint in `decisions`. */
  decisionRow(endpoint: string, policy: string): number {
    return this.#policies.index(this.#endpoints.index(endpoint), policy);
  }

  ended(finished: FinishedRequest): void {
    const { arrivedUs, endedUs, firstTokenUs, outcome, queuedUs } = finished;
    const endpoint = this.#endpoints.index(finished.endpoint.name);
    const model = this.#models.index(endpoint, finished.model);
    this.#requests.add(1, model, this.#outcomes.index(outcome), this.#classes.index(classOf(finished.status)));
    if (finished.attempts > 0) this.#addTokens(finished, model);
    if (queuedUs >= 0) this.#queueTime.observe(endpoint, queuedUs);
    if (finished.isStreamed && firstTokenUs >= 0) this.#firstToken.observe(endpoint, firstTokenUs - arrivedUs);
    if (outcome === 'ok') this.#duration.observe(endpoint, endedUs - arrivedUs);
  }

  /** Only of requests that reached an engine: a refused prompt used nothing. */
  #addTokens(finished: FinishedRequest, model: number): void {
    this.#inputTokens.add(finished.inputTokens, model);
    this.#cachedTokens.add(finished.cachedTokens, model);
    this.#outputTokens.add(finished.outputTokens, model);
    this.#reasoningTokens.add(finished.reasoningTokens, model);
    this.#characters.add(finished.characters, model);
    this.#audioSeconds.add(finished.audioSeconds, model);
    if (!finished.isMetered) this.#unmetered.add(1, model);
  }

  /** Responses without an endpoint. */
  refused(status: number): void {
    this.#refused.add(1, this.#statuses.index(String(status)));
  }

  /** Requests so far, by how they ended. */
  get outcomes(): ReadonlyMap<string, number> {
    const sums = this.#requests.sumsBy(this.#outcomes);
    const named = this.#outcomes.values.map((outcome, i): [string, number] => [outcome, sums[i]!]);
    return new Map(named.filter(([, sum]) => sum > 0));
  }

  /** The families whose counts are kept here and that are about requests. */
  writeTo(out: Exposition): void {
    this.#requests.writeTo(out);
    this.#refused.writeTo(out);
    for (const histogram of [this.#firstToken, this.#gap, this.#duration, this.#queueTime]) histogram.writeTo(out);
    const tokens = [this.#inputTokens, this.#cachedTokens, this.#outputTokens, this.#reasoningTokens];
    const audio = [this.#characters, this.#audioSeconds];
    for (const counter of [...tokens, this.#unmetered, ...audio, this.decisions]) counter.writeTo(out);
    out.single(FAMILIES.retries, this.retries);
    out.single(FAMILIES.faults, this.faults);
    if (this.control !== null) out.single(FAMILIES.leader, this.control.isLeading ? 1 : 0);
  }
}

function classOf(status: number): string {
  return STATUS_CLASSES[Math.floor(status / 100)] ?? OTHER;
}
