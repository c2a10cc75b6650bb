import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import { endpointName } from '../../gateway/fleet/endpoint-name.js';
import { STEP_S, type TrafficStep } from '../../gateway/history/traffic-series.js';
import type { KeptRequest } from '../../store/requests/kept-request.js';
import type { ServedGateway } from '../api-host.js';

/** Rates are over the last minute, the step under way included. */
const RATE_STEPS = 6;
/** Steps of a series: half an hour. */
const SERIES_STEPS = 180;

type Traffic = Pick<ServedGateway, 'endpoints' | 'traffic' | 'epochUs'>;

/** Endpoints with their rates over the last minute, their sum, and the last half hour. */
export function servedTraffic(gateway: Traffic, endpoints: readonly Endpoint[]) {
  const names = endpoints.map(({ name }) => name);
  return {
    items: endpoints.map((one) => ({ ...endpointName(one), ...ratesOf(gateway, [one.name]), ...presentOf([one]) })),
    total: { ...ratesOf(gateway, names), ...presentOf(endpoints) },
    series: seriesOf(gateway, names),
  };
}

function ratesOf({ traffic: { nowUs, series } }: Traffic, names: readonly string[]) {
  const { step } = series;
  const from = Math.max(0, step - RATE_STEPS + 1);
  // At least a step: a gateway that has just started would show the rates of its first instant.
  const seconds = Math.max(STEP_S, nowUs() / 1e6 - from * STEP_S);
  return perSecond(series.sum(names, from, step + 1), seconds);
}

function perSecond(step: TrafficStep, seconds: number) {
  const rate = (sum: number) => Math.round((sum / seconds) * 1000) / 1000;
  return {
    requests_per_s: rate(step.requests),
    errors_per_s: rate(step.errors),
    refused_per_s: rate(step.refused),
    input_tokens_per_s: rate(step.inputTokens),
    cached_tokens_per_s: rate(step.cachedTokens),
    output_tokens_per_s: rate(step.outputTokens),
    ttft_p50_ms: rounded(step.ttftP50Ms),
    ttft_p95_ms: rounded(step.ttftP95Ms),
  };
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value * 10) / 10);

function presentOf(endpoints: readonly Endpoint[]) {
  const replicas = endpoints.flatMap((one) => one.replicas);
  const used = replicas.map(({ signals }) => signals?.kvUsed ?? Number.NaN).filter((one) => Number.isFinite(one));
  return {
    in_flight: endpoints.reduce((sum, one) => sum + one.inFlight, 0),
    queued: endpoints.reduce((sum, { usedFlow }) => sum + (usedFlow?.waiting ?? 0), 0),
    replicas: replicas.length,
    ready: replicas.filter(({ state }) => state === 'ready').length,
    kv_used: used.length === 0 ? null : used.reduce(add, 0) / used.length,
  };
}

const add = (a: number, b: number) => a + b;

function seriesOf({ epochUs, traffic: { series } }: Traffic, names: readonly string[]) {
  // Only whole steps: the one under way would always fall.
  const end = series.step;
  const first = Math.max(0, end - SERIES_STEPS);
  const steps = Array.from({ length: end - first }, (_, i) =>
    perSecond(series.sum(names, first + i, first + i + 1), STEP_S),
  );
  return {
    at: new Date(epochUs / 1000 + end * STEP_S * 1000).toISOString(),
    step_s: STEP_S,
    requests_per_s: steps.map((one) => one.requests_per_s),
    errors_per_s: steps.map((one) => one.errors_per_s),
    output_tokens_per_s: steps.map((one) => one.output_tokens_per_s),
    ttft_p50_ms: steps.map((one) => one.ttft_p50_ms),
    ttft_p95_ms: steps.map((one) => one.ttft_p95_ms),
  };
}

export function pastRequestView({ facts, ...one }: KeptRequest) {
  return {
    id: one.id,
    workspace: one.workspace,
    endpoint: one.endpoint,
    model: one.model,
    key: orNull(one.keyId),
    class: one.sloClass,
    replica: orNull(one.replica),
    policy: orNull(facts.policy),
    status: facts.status,
    outcome: one.outcome,
    cause: orNull(facts.cause),
    attempts: facts.attempts,
    failed_attempts: facts.failedAttempts.map(({ cause, endUs, replica, startUs }) => ({
      ...{ replica, start_ms: startUs / 1000, end_ms: endUs / 1000, cause },
    })),
    streamed: facts.isStreamed,
    at: new Date(facts.arrivedAt / 1000).toISOString(),
    queue_ms: milliseconds(facts.queuedUs),
    dispatch_ms: milliseconds(facts.dispatchedUs),
    ttft_ms: milliseconds(one.ttftUs),
    duration_ms: one.durationUs / 1000,
    input_tokens: facts.inputTokens,
    cached_tokens: facts.cachedTokens,
    output_tokens: facts.outputTokens,
  };
}

const milliseconds = (us: number) => (us < 0 ? null : us / 1000);
const orNull = (text: string) => (text === '' ? null : text);
