import type { Endpoint } from '../../../gateway/fleet/endpoint/endpoint.js';
import { flowControlOf } from '../../../policy/bundle/flow-control-schema.js';
import { policyOptions } from '../../../policy/policy-options.js';
import { routingPolicy } from '../../../policy/registry.js';
import type { AdviceRequest } from '../../../twin/advise/advise.js';
import { type ServedEngine, servedReplica } from '../../../twin/jobs/served-replica.js';
import type { PlanRequest } from '../../../twin/plan/plan-request.js';
import type { AskedFleet, WhatIfQuestion } from '../../../twin/whatif/whatif-question.js';
import type { ServedGateway } from '../../api-host.js';
import { badBody } from '../../errors.js';
import type { AdviceBody, PlanBody, WhatIfBody } from '../../views/twin-bodies.js';

type Served = Pick<Endpoint, 'policy' | 'profiles'>;
type Gateway = Pick<ServedGateway, 'config'>;

/** The question of a request about an endpoint: its own policy, queue, profile and settings are known. */
export function question(
  endpoint: Served,
  models: readonly string[],
  gateway: Gateway,
  body: WhatIfBody,
): WhatIfQuestion {
  const { name, options } = endpoint.policy;
  const { flow_control: queue, gpu, policies = [{ policy: name, options }], replicas } = body;
  const engine = engineOf(endpoint, models, body);
  const other =
    gpu === undefined ? {} : { replica: servedReplica({ model: engine.model, hardware: gpu, ...tpOf(body) }) };
  const asked = policies.map(
    (routing, i): AskedFleet => ({
      ...asServed(endpoint),
      routing: checked(routing.policy, routing.options, `policies[${i}]`),
      ...(replicas === undefined ? {} : { replicas }),
      ...(queue === undefined ? {} : { flowControl: flowControlOf(queue, {}) }),
      ...other,
    }),
  );
  return questionOf(endpoint, gateway, servedReplica(engine), asked, body.runs);
}

/** The same for advice about its policy. */
export function adviceQuestion(
  endpoint: Served,
  models: readonly string[],
  gateway: Gateway,
  body: AdviceBody,
): { question: WhatIfQuestion; advice: AdviceRequest } {
  const { name: policy, options } = endpoint.policy;
  const present = { policy, options };
  for (const [i, name] of (body.policies ?? []).entries()) routingPolicy(name, `body (policies[${i}])`);
  const replica = servedReplica(engineOf(endpoint, models, body));
  const asked = [{ ...asServed(endpoint), routing: present }];
  return {
    question: questionOf(endpoint, gateway, replica, asked, body.runs),
    advice: { present, metric: body.metric, ...(body.policies === undefined ? {} : { policies: body.policies }) },
  };
}

/** The percentiles of gaps that runs measure. */
const GAP_PERCENTILES = [50, 90, 95, 99];

/** The same for the least fleet that keeps SLOs. */
export function planQuestion(
  endpoint: Served,
  models: readonly string[],
  gateway: Gateway,
  body: PlanBody,
): { question: WhatIfQuestion; plan: PlanRequest } {
  const { name, options } = endpoint.policy;
  const routing = body.policy === undefined ? { policy: name, options } : checked(body.policy, {}, 'policy');
  const replica = servedReplica(engineOf(endpoint, models, body));
  const slos = body.slos.map(({ limit_ms: limitMs, metric: of, statistic }, i) => {
    const at = statistic === 'mean' ? ('mean' as const) : Number(statistic.slice(1));
    const isMeasured = at === 'mean' || (at > 0 && (of !== 'itl' || GAP_PERCENTILES.includes(at)));
    if (!isMeasured) {
      const hint = of === 'itl' ? "give 'mean', p50, p90, p95 or p99, or limit 'tpot'" : 'give a percentile above 0';
      throw badBody(`slos[${i}].statistic`, `'${statistic}' is not measured`, hint);
    }
    return { of, at, limitMs };
  });
  return {
    question: questionOf(endpoint, gateway, replica, [{ ...asServed(endpoint), routing }], undefined),
    plan: {
      ...{ slos, traffic: trafficOf(body), mostReplicas: body.max_replicas },
      ...(body.requests === undefined ? {} : { requests: body.requests }),
    },
  };
}

function trafficOf({ rate, times, workload }: PlanBody): PlanRequest['traffic'] {
  if (workload === undefined) {
    if (rate !== undefined) throw badBody('rate', 'is for a preset', "scale recorded traffic with 'times'");
    return { kind: 'recorded', times };
  }
  if (rate === undefined) throw badBody('rate', 'is required for a preset', 'give requests per second');
  return { kind: 'preset', name: workload, rate };
}

function questionOf(
  { policy }: Served,
  { config }: Gateway,
  replica: WhatIfQuestion['replica'],
  alternatives: AskedFleet[],
  runs: number | undefined,
): WhatIfQuestion {
  return {
    recording: '',
    replica,
    gateway: { signalsUs: config.signals.intervalMs * 1000, blockSize: policy.blockSize },
    alternatives,
    ...(runs === undefined ? {} : { runs }),
  };
}

function asServed({ policy }: Served): Omit<AskedFleet, 'routing'> {
  const { admission, flowControl, sloPriorities, tenantBudgets } = policy;
  return { admission, flowControl, sloPriorities: { ...sloPriorities }, tenantBudgets: { ...tenantBudgets } };
}

/** Engines as the request describes them, else by the current profile of the endpoint, else by the model that it serves. */
export function engineOf(
  { profiles }: Served,
  models: readonly string[],
  body: Pick<WhatIfBody, 'model' | 'hardware' | 'tp'>,
): ServedEngine {
  const known = profiles.all()[0]?.[1];
  const isGiven = body.model !== undefined || body.hardware !== undefined || body.tp !== undefined;
  if (known !== undefined && !isGiven) return { model: known.model, profile: known };
  const model = body.model ?? models[0];
  if (model === undefined) throw badBody('model', 'is required: the endpoint serves no model yet', 'name its model');
  return { model, ...(body.hardware === undefined ? {} : { hardware: body.hardware }), ...tpOf(body) };
}

function tpOf({ tp }: Pick<WhatIfBody, 'tp'>): { tp?: number } {
  return tp === undefined ? {} : { tp };
}

function checked(policy: string, options: Record<string, unknown>, place: string) {
  policyOptions(routingPolicy(policy, `body (${place})`), options, `body (${place})`);
  return { policy, options };
}
