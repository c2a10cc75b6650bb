import * as v from 'valibot';
import { bare, factsOf, type Schema } from '../../schema/facts.js';
import { any, field, type Given, list, map, number, required, section, text, whole } from '../../schema/fields.js';
import { ADMISSION_POLICIES } from '../registry.js';
import { FLOW_CONTROL_SCHEMA } from './flow-control-schema.js';
import { SHADOWS_SCHEMA } from './shadow-choice.js';

const MOST = 2 ** 31 - 1;
const named = (title: string) => section(title, { policy: field(text(), { help: 'its name' }) });
const options = field(map('options', any), { help: "the policy's options by name" });

export const ROUTING_SCHEMA = section('Routing', {
  policy: field(text(), {
    defaultText: 'unified live, round-robin simulated',
    help: "a policy of 'twinyard decide --help'",
  }),
  scorers: field(
    list(
      section('Scorer', {
        name: required(text(), { help: 'name of the scorer' }),
        weight: required(number(), { help: 'its weight relative to the others; above 0' }),
      }),
    ),
    { help: 'scorers and their weights, for weighted' },
  ),
  options,
  block_size: field(whole(1, MOST), { default: 16, help: 'tokens per block of a prompt; live only' }),
  cache_blocks: field(whole(0, MOST), { default: 10_000, help: 'blocks remembered per replica; live only' }),
});

/** Options of admission policies that a file also takes as keys of the section, such as `token_bucket_capacity`. */
function admissionFileKeys(): Record<string, v.OptionalSchema<v.GenericSchema, undefined>> {
  const found = ADMISSION_POLICIES.flatMap(({ name, options: of }) =>
    Object.values(of as Record<string, Schema>).flatMap((schema) => {
      const { fileDefault, fileKey, help } = factsOf(schema);
      if (fileKey === undefined) return [];
      const standard = String(fileDefault ?? (schema as { default?: unknown }).default);
      const facts = { help: `${help} (${name})`, defaultText: standard };
      return [[fileKey, v.optional(v.pipe(bare(schema), v.metadata(facts)))]];
    }),
  );
  return Object.fromEntries(found);
}

export const ADMISSION_SCHEMA = section('Admission', {
  policy: field(text(), { default: 'always-admit', help: 'an admission policy' }),
  options,
  ...admissionFileKeys(),
  slo_priorities: field(map('classes', whole(-100, 100)), { help: 'priorities by class; below 0 may be shed' }),
  slo_targets: field(map('classes', whole(1)), { help: 'microseconds by class, for slo-deadline' }),
});

/**
 * Every key of a policy file. Simulations and gateways read the same files by this schema; each reports the keys that have
 * no effect on its side.
 */
export const POLICY_SCHEMA = section('Policy', {
  routing: field(ROUTING_SCHEMA, { help: 'how a replica is chosen' }),
  admission: field(ADMISSION_SCHEMA, { help: 'which requests are admitted' }),
  flow_control: field(FLOW_CONTROL_SCHEMA, { defaultText: 'off', help: 'a queue in front of the fleet' }),
  tenant_budgets: field(map('tenants', number(0, 1)), {
    help: "shares of the fleet's seats that sheddable requests of a tenant may take",
  }),
  max_num_seqs: field(whole(1, MOST), { default: 256, help: 'seats per replica, for tenant_budgets; live only' }),
  shadow: field(SHADOWS_SCHEMA, {
    help: 'routing policies that decide about the same requests and place none; live only',
  }),
  scheduler: field(text(), { help: 'inside replicas; of simulated ones only' }),
  preemption: field(named('Preemption'), { help: 'inside replicas; of simulated ones only' }),
  priority: field(named('Priority'), { help: 'no effect: priorities come from classes' }),
});

export type RoutingKeys = Given<typeof ROUTING_SCHEMA>;

/** The section `admission` as it is written; options of the policies may be in it under their own keys. */
export interface AdmissionKeys {
  policy?: string | undefined;
  options?: Record<string, unknown> | undefined;
  /** Priority by class. */
  slo_priorities?: Record<string, number> | undefined;
  /** Microseconds by class. */
  slo_targets?: Record<string, number> | undefined;
  [fileKey: string]: unknown;
}

/** The policies of a fleet as they are written in a file. */
export type PolicyKeys = Omit<Given<typeof POLICY_SCHEMA>, 'admission'> & { admission?: AdmissionKeys | undefined };
