import * as v from 'valibot';
import { NEW_POLICY_SCHEMA } from '../../gateway/config/read-admin-body.js';
import { FLOW_CONTROL_SCHEMA } from '../../policy/bundle/flow-control-schema.js';
import type { Value } from '../../schema/fields.js';
import {
  above,
  choice,
  field,
  listOf,
  number,
  pattern,
  required,
  section,
  text,
  time,
  whole,
} from '../../schema/fields.js';
import { PLAN_PRESETS } from '../../twin/plan/plan-request.js';
import { WHAT_IF_METRICS } from '../../twin/whatif/recorded-metrics.js';
import { GUARD_METRICS } from '../jobs/guard-metrics.js';

/** Bodies of questions about recorded traffic. */

export const DEFAULT_WATCH = '10m';

const engine = {
  model: field(text(), {
    help: 'model of the catalogue that the engines serve; that of the endpoint if absent. A latency profile stays in use, unless GPUs are named too',
  }),
  hardware: field(text(63), { help: 'GPU of the engines; the usual one of the model if absent' }),
  tp: field(whole(1, 1024), { help: 'GPUs of a replica; as usual for the model if absent' }),
  runs: field(whole(5, 100), { help: 'simulations that estimate chance' }),
};

/** The same question about the same requests, whenever it is asked. */
const to = field(time, { help: 'requests that arrived before, and `last` counts back from it; now if absent' });

const CHOICE = section('AskedPolicy', {
  policy: required(text(63), { help: 'name of the policy' }),
  options: field(v.record(v.string(), v.unknown()), { default: {}, help: 'its options, by name' }),
});

export const WHATIF_BODY = section('WhatIf', {
  policies: field(listOf(CHOICE, 1, 20), { help: 'each is compared with the recording; the present one if absent' }),
  replicas: field(whole(1, 10_000), { help: 'number of replicas; as recorded if absent' }),
  gpu: field(text(63), { help: 'the same engines on another GPU' }),
  admission: field(CHOICE, { help: 'admission policy with its options; the present one if absent' }),
  flow_control: field(v.nullable(FLOW_CONTROL_SCHEMA), {
    help: 'queue before routing, as in a policy file; null: none; the present one if absent',
  }),
  last: field(text(40), { default: '1h', help: "requests of the last so long, such as '1h'" }),
  to,
  ...engine,
});

export const ADVICE_BODY = section('AdviceQuestion', {
  metric: field(choice(WHAT_IF_METRICS), { default: 'ttft_p90_ms', help: 'what should become better' }),
  policies: field(listOf(text(63), 1, 40), { help: 'policies to choose from; all if absent' }),
  last: field(text(40), { default: '24h', help: "requests of the last so long, such as '24h'" }),
  to,
  ...engine,
});

const SLO = section('PlannedSlo', {
  metric: required(choice(['ttft', 'itl', 'tpot', 'e2e']), { help: 'what is limited' }),
  statistic: field(pattern(/^(mean|p\d{1,2}(\.\d{1,3})?)$/, "'mean' or a percentile such as 'p99'", 8), {
    default: 'p99',
    help: "'mean' or a percentile; of itl one of p50, p90, p95 and p99",
  }),
  limit_ms: required(above(0, 86_400_000), { help: 'the limit in milliseconds' }),
});

export const PLAN_BODY = section('PlanQuestion', {
  slos: required(listOf(SLO, 1, 8), { help: 'what the fleet has to keep' }),
  policy: field(text(63), { help: 'routing policy of the fleet; the present one with its options if absent' }),
  times: field(above(0, 1000), { default: 1, help: 'how many times the recorded rate' }),
  workload: field(choice(PLAN_PRESETS), { help: 'a preset instead of recorded traffic; needs a rate' }),
  rate: field(above(0, 1_000_000), { help: 'requests per second of the preset' }),
  max_replicas: field(whole(1, 512), { default: 64, help: 'replicas at most' }),
  requests: field(whole(100, 50_000), {
    help: 'requests of a simulation at least; as many as the percentiles need if absent',
  }),
  last: field(text(40), { default: '1h', help: "requests of the last so long, such as '1h'" }),
  to,
  ...{ model: engine.model, hardware: engine.hardware, tp: engine.tp },
});

export const SWITCH_BODY = section('GuardedSwitch', {
  policy: required(NEW_POLICY_SCHEMA, { help: 'the new policy, as for PUT on the policy' }),
  guard: required(
    section('SwitchGuard', {
      metric: required(choice(GUARD_METRICS), { help: 'what is watched' }),
      most: required(number(0, 100), {
        help: 'how much worse it may become: 0.1 for 10 % of what it was, of errors for 10 % of all requests',
      }),
    }),
    { help: 'when to go back' },
  ),
  watch: field(text(40), { default: DEFAULT_WATCH, help: "how long it is watched, such as '10m'" }),
});

export type WhatIfBody = Value<typeof WHATIF_BODY>;
export type AdviceBody = Value<typeof ADVICE_BODY>;
export type PlanBody = Value<typeof PLAN_BODY>;
export type SwitchBody = Value<typeof SWITCH_BODY>;
