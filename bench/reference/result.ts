import type { Instance } from './instance.js';
import type { ReferenceRequest, RequestStatus } from './request.js';

export interface ReferenceRequestResult {
  id: string;
  instance: number | null;
  status: RequestStatus;
  arrivalUs: number;
  /** null for what never happened. */
  schedulingDelayUs: number | null;
  ttftUs: number | null;
  e2eUs: number | null;
  /** The gaps of a completed request, and so far of a running one. */
  tokenGapsUs: number[];
  /** Between entering and leaving the gateway's queue. */
  gatewayDelayUs: number | null;
  inputTokens: number;
  /** What it was to produce. */
  outputTokens: number;
}

export interface ReferenceInstanceResult {
  completed: number;
  stillQueued: number;
  stillRunning: number;
  preemptions: number;
  kvAllocationFailures: number;
  hits: number;
  misses: number;
  totalInputTokens: number;
  totalOutputTokens: number;
  endUs: number;
}

/** Counts of the decisions, kept while the simulation runs. */
export interface DecisionCounts {
  admitted: number;
  rejected: number;
  /** Requests routed to each instance. */
  targets: number[];
  /** One per routed request. */
  regrets: number[];
  shedByClass: Map<string, number>;
}

export interface ReferenceResult {
  requests: ReferenceRequestResult[];
  instances: ReferenceInstanceResult[];
  /** How many requests ended in each state; they add up to all requests that exist. */
  counts: Record<RequestStatus, number>;
  totalInputTokens: number;
  totalOutputTokens: number;
  preemptions: number;
  kvAllocationFailures: number;
  durationUs: number;
  /** Every gap between tokens of the completed requests, request by request. */
  tokenGapsUs: number[];
  decisions: {
    admitted: number;
    rejected: number;
    targets: number[];
    meanRegret: number;
    maxRegret: number;
    shedByClass: Record<string, number>;
  };
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

function hasCompleted(request: { status: RequestStatus }): boolean {
  return request.status === 'completed' || request.status === 'length_capped';
}

function requestResult(request: ReferenceRequest): ReferenceRequestResult {
  const { gatewayEnqueuedUs, gatewayDispatchedUs } = request;
  return {
    id: request.id,
    instance: request.instance,
    status: request.status,
    arrivalUs: request.arrivalUs,
    schedulingDelayUs: request.schedulingDelayUs,
    ttftUs: request.ttftUs,
    e2eUs: request.e2eUs,
    tokenGapsUs: request.tokenGapsUs,
    gatewayDelayUs: gatewayDispatchedUs === null ? null : gatewayDispatchedUs - gatewayEnqueuedUs!,
    inputTokens: request.prompt.length,
    outputTokens: request.response.length,
  };
}

function instanceResult(instance: Instance, requests: readonly ReferenceRequest[]): ReferenceInstanceResult {
  const completed = requests.filter((request) => request.instance === instance.index && hasCompleted(request));
  return {
    completed: completed.length,
    stillQueued: instance.waiting,
    stillRunning: instance.batch.length,
    preemptions: instance.preemptions,
    kvAllocationFailures: instance.kvAllocationFailures,
    hits: instance.kv.hits,
    misses: instance.kv.misses,
    totalInputTokens: instance.totalInputTokens,
    totalOutputTokens: sumOf(completed, (request) => request.producedTokens),
    endUs: Math.min(instance.clockUs, instance.horizonUs),
  };
}

export function collectResult(
  requests: readonly ReferenceRequest[],
  instances: readonly Instance[],
  decisions: DecisionCounts,
): ReferenceResult {
  const perInstance = instances.map((instance) => instanceResult(instance, requests));
  const countOf = (status: RequestStatus) => requests.filter((request) => request.status === status).length;
  return {
    requests: requests.map(requestResult),
    instances: perInstance,
    counts: {
      not_arrived: countOf('not_arrived'),
      in_pipeline: countOf('in_pipeline'),
      rejected: countOf('rejected'),
      routing_rejected: countOf('routing_rejected'),
      gateway_queued: countOf('gateway_queued'),
      gateway_rejected: countOf('gateway_rejected'),
      gateway_shed: countOf('gateway_shed'),
      gateway_expired: countOf('gateway_expired'),
      queued: countOf('queued'),
      running: countOf('running'),
      completed: countOf('completed'),
      length_capped: countOf('length_capped'),
      dropped: countOf('dropped'),
      timed_out: countOf('timed_out'),
    },
    totalInputTokens: sumOf(perInstance, (instance) => instance.totalInputTokens),
    totalOutputTokens: sumOf(perInstance, (instance) => instance.totalOutputTokens),
    preemptions: sumOf(perInstance, (instance) => instance.preemptions),
    kvAllocationFailures: sumOf(perInstance, (instance) => instance.kvAllocationFailures),
    durationUs: Math.max(...perInstance.map((instance) => instance.endUs)),
    tokenGapsUs: requests.filter(hasCompleted).flatMap((request) => request.tokenGapsUs),
    decisions: {
      admitted: decisions.admitted,
      rejected: decisions.rejected,
      targets: decisions.targets,
      meanRegret:
        decisions.regrets.length === 0 ? 0 : sumOf(decisions.regrets, (regret) => regret) / decisions.regrets.length,
      maxRegret: decisions.regrets.reduce((max, regret) => Math.max(max, regret), 0),
      shedByClass: Object.fromEntries(decisions.shedByClass),
    },
  };
}
