import * as v from 'valibot';
import { NEW_POLICY_SCHEMA } from '../../gateway/config/read-admin-body.js';
import type { Value } from '../../schema/fields.js';
import { choice, field, listOf, number, required, section, text, whole } from '../../schema/fields.js';
import { WHAT_IF_METRICS } from '../../twin/whatif/recorded-metrics.js';
import { GUARD_METRICS } from '../jobs/guarded-switch.js';

/** Bodies of questions about recorded traffic. */

export const DEFAULT_WATCH = '10m';

const engine = {
  model: field(text(), { help: 'model of the catalogue that the engines serve; that of the endpoint if absent' }),
  hardware: field(text(63), { help: 'GPU of the engines; the usual one of the model if absent' }),
  tp: field(whole(1, 1024), { help: 'GPUs of a replica; as usual for the model if absent' }),
  runs: field(whole(5, 100), { help: 'simulations that estimate chance' }),
};

const CHOICE = section('AskedPolicy', {
  policy: required(text(63), { help: 'routing policy' }),
  options: field(v.record(v.string(), v.unknown()), { default: {}, help: 'its options, by name' }),
});

export const WHATIF_BODY = section('WhatIf', {
  policies: field(listOf(CHOICE, 1, 20), { help: 'each is compared with the recording; the present one if absent' }),
  replicas: field(whole(1, 10_000), { help: 'number of replicas; as recorded if absent' }),
  gpu: field(text(63), { help: 'another GPU for all replicas' }),
  last: field(text(40), { default: '1h', help: "requests of the last so long, such as '1h'" }),
  ...engine,
});

export const ADVICE_BODY = section('AdviceQuestion', {
  metric: field(choice(WHAT_IF_METRICS), { default: 'ttft_p90_ms', help: 'what should become better' }),
  policies: field(listOf(text(63), 1, 40), { help: 'policies to choose from; all if absent' }),
  last: field(text(40), { default: '24h', help: "requests of the last so long, such as '24h'" }),
  ...engine,
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
export type SwitchBody = Value<typeof SWITCH_BODY>;
