import { DEFAULT_WORKSPACE } from '../../../control/resources/resource.js';
import type { Endpoint } from '../../../gateway/fleet/endpoint/endpoint.js';
import { shellWord } from '../../../kernel/text/shell-word.js';
import { FLOW_CONTROL_SCHEMA } from '../../../policy/bundle/flow-control-schema.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import type { ServedGateway } from '../../api-host.js';
import { endpointName, modelsOf } from '../../gateway/live-endpoints.js';
import type { WhatIfBody } from '../../views/twin-bodies.js';
import { engineOf } from './twin-questions.js';

type Gateway = Pick<ServedGateway, 'adminUrl' | 'traffic'>;
type Served = Pick<Endpoint, 'managed' | 'name' | 'policy' | 'profiles' | 'replicas'>;
type Options = Readonly<Record<string, unknown>>;

const PROFILE_FILE = 'profile.json';
/** Keys in milliseconds, which flags take in microseconds. */
const IN_MICROSECONDS = ['dispatch_tick_ms', 'request_ttl_ms'];

/**
 * The lines of `twinyard` that put the same question to the same gateway; none where flags cannot express it: options that are no plain
 * values, or a profile that the gateway does not export.
 */
export function whatIfCommands(gateway: Gateway, endpoint: Served, body: WhatIfBody): string[] {
  const { gpu, last, policies = [], replicas, runs } = body;
  const engine = engineFlags(gateway, endpoint, body);
  if (engine === null || !policies.every(({ options }) => Object.values(options).every(isPlain))) return [];
  const { name, workspace } = endpointName(endpoint);
  const common = [
    ...['whatif', '--gateway', gateway.adminUrl, '--endpoint', `${workspace}/${name}`, '--last', last],
    ...engine.flags,
  ];
  const rest = [
    ...(replicas === undefined ? [] : ['--replicas', String(replicas)]),
    ...(gpu === undefined ? [] : ['--gpu', gpu]),
    ...queueFlags(body.flow_control),
    ...(runs === undefined ? [] : ['--runs', String(runs)]),
  ];
  // Options are for all policies of a line.
  const isOne = policies.length < 2 || policies.every(({ options }) => Object.keys(options).length === 0);
  const lines = isOne
    ? [policyFlags(policies.map(({ policy }) => policy).join(','), policies[0]?.options ?? {})]
    : policies.map(({ options, policy }) => policyFlags(policy, options));
  return [...engine.before, ...lines.map((flags) => line([...common, ...flags, ...rest]))];
}

/** The engines: a profile that the gateway keeps is written to a file first. */
function engineFlags(
  gateway: Gateway,
  endpoint: Served,
  body: WhatIfBody,
): { before: string[]; flags: string[] } | null {
  const { hardware, model, profile, tp } = engineOf(endpoint, modelsOf(endpoint), body);
  if (profile === undefined) {
    const given = [...(hardware === undefined ? [] : ['--hardware', hardware])];
    return { before: [], flags: ['--model', model, ...given, ...(tp === undefined ? [] : ['--tp', String(tp)])] };
  }
  const kept = gateway.traffic.profiles?.states(endpoint.name).find((state) => state.profile === profile);
  if (kept === undefined) return null;
  const { name, workspace } = endpointName(endpoint);
  const where = workspace === DEFAULT_WORKSPACE ? [] : ['--workspace', workspace];
  const write = ['profiles', 'export', name, kept.engine, ...where, '--server', gateway.adminUrl];
  return { before: [line([...write, '--output', PROFILE_FILE])], flags: ['--latency-profile', PROFILE_FILE] };
}

function policyFlags(policy: string, options: Options): string[] {
  if (policy === '') return [];
  return [
    ...['--policy', policy],
    ...Object.entries(options).flatMap(([name, value]) => ['--policy-option', `${name}=${value}`]),
  ];
}

/** Flags of the queue begin without limits; each setting that differs is named. */
function queueFlags(queue: WhatIfBody['flow_control']): string[] {
  if (queue === undefined) return [];
  const given = Object.entries(FLOW_CONTROL_SCHEMA.entries).flatMap(([key, schema]) => {
    const { flag } = factsOf(schema as Schema);
    const name = flag?.name ?? key.replaceAll('_', '-');
    const found = queue[key as keyof typeof queue];
    const value = IN_MICROSECONDS.includes(key) ? Math.ceil(1000 * (found as number)) : found;
    if (value === (flag?.default ?? (schema as { default?: unknown }).default)) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });
  return ['--flow-control', ...given];
}

const isPlain = (value: unknown) => typeof value !== 'object';

const line = (words: readonly string[]) => ['twinyard', ...words.map(shellWord)].join(' ');
