import type { Endpoint } from '../../../gateway/fleet/endpoint/endpoint.js';
import { flowControlOf } from '../../../policy/bundle/flow-control-schema.js';
import { policyOptions } from '../../../policy/policy-options.js';
import { admissionPolicy, routingPolicy } from '../../../policy/registry.js';
import type { AdviceRequest } from '../../../twin/advise/advise.js';
import { type ServedEngine, servedReplica } from '../../../twin/jobs/served-replica.js';
import type { PlanRequest } from '../../../twin/plan/plan-request.js';
import { onOtherGpu } from '../../../twin/whatif/engines/other-gpu.js';
import type { AskedFleet, WhatIfQuestion } from '../../../twin/whatif/whatif-question.js';
import type { ServedGateway } from '../../api-host.js';
import { badBody } from '../../errors.js';
import { knownEngine } from '../../gateway/known-engine.js';
import type { AdviceBody, PlanBody, WhatIfBody } from '../../views/twin-bodies.js';

type Served = Pick<Endpoint, 'managed' | 'policy' | 'profiles' | 'replicas'>;
type Gateway = Pick<ServedGateway, 'config'>;

/** The question of a request about an endpoint: its own policy, queue, profile and settings are known. */
export function question(endpoint: Served, gateway: Gateway, body: WhatIfBody): WhatIfQuestion {
  const { name, options } = endpoint.policy;
  const { gpu, policies = [{ policy: name, options }], replicas } = body;
  const engine = engineOf(endpoint, body);
  const replica = servedReplica(engine);
  if (gpu !== undefined) onOtherGpu(replica, gpu, 'body (gpu)');
  const asked = policies.map(
    (routing, i): AskedFleet => ({
      ...asServed(endpoint),
      ...otherFlow(body),
      routing: checked(routing.policy, routing.options, `policies[${i}]`),
      ...(replicas === undefined ? {} : { replicas }),
      ...(gpu === undefined ? {} : { gpu }),
    }),
  );
  return questionOf(endpoint, gateway, replica, asked, body.runs);
}

/** The same for advice about its policy. */
export function adviceQuestion(
  endpoint: Served,
  gateway: Gateway,
  body: AdviceBody,
): { question: WhatIfQuestion; advice: AdviceRequest } {
  const { name: policy, options } = endpoint.policy;
  const present = { policy, options };
  for (const [i, name] of (body.policies ?? []).entries()) routingPolicy(name, `body (policies[${i}])`);
  const replica = servedReplica(engineOf(endpoint, body));
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
  gateway: Gateway,
  body: PlanBody,
): { question: WhatIfQuestion; plan: PlanRequest } {
  const { name, options } = endpoint.policy;
  const routing = body.policy === undefined ? { policy: name, options } : checked(body.policy, {}, 'policy');
  const replica = servedReplica(engineOf(endpoint, body));
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

/** Admission and queue, where the request sets them. */
function otherFlow({ admission, flow_control: queue }: WhatIfBody): Pick<AskedFleet, 'admission' | 'flowControl'> {
  const place = 'body (admission)';
  const admits = admission === undefined ? null : admissionPolicy(admission.policy, place);
  return {
    ...(admits === null
      ? {}
      : {
          admission: {
            policy: admits.name,
            options: policyOptions(admits, admission!.options, place) as Record<string, unknown>,
          },
        }),
    ...(queue === undefined ? {} : { flowControl: queue === null ? null : flowControlOf(queue, {}) }),
  };
}

/** Engines as the request describes them, else by the current profile of the endpoint, else by the model that it serves. */
export function engineOf(endpoint: Served, body: Pick<WhatIfBody, 'model' | 'hardware' | 'tp'>): ServedEngine {
  const known = knownEngine(endpoint);
  const isOther = body.hardware !== undefined || body.tp !== undefined;
  // A model alone says how much memory it takes; the measured step times stay.
  if (known.profile !== null && !isOther) return { model: body.model ?? known.profile.model, profile: known.profile };
  const model = body.model ?? known.model;
  if (model === null) throw badBody('model', 'is required: the endpoint serves no model yet', 'name its model');
  return { model, ...(body.hardware === undefined ? {} : { hardware: body.hardware }), ...tpOf(body) };
}

function tpOf({ tp }: Pick<WhatIfBody, 'tp'>): { tp?: number } {
  return tp === undefined ? {} : { tp };
}

function checked(policy: string, options: Record<string, unknown>, place: string) {
  policyOptions(routingPolicy(policy, `body (${place})`), options, `body (${place})`);
  return { policy, options };
}
