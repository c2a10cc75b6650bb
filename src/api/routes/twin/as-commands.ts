import type { Endpoint } from '../../../gateway/fleet/endpoint/endpoint.js';
import { endpointName } from '../../../gateway/fleet/endpoint-name.js';
import { shellWord } from '../../../kernel/text/shell-word.js';
import { FLOW_CONTROL_SCHEMA } from '../../../policy/bundle/flow-control-schema.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import type { ServedGateway } from '../../api-host.js';
import type { AdviceBody, WhatIfBody } from '../../views/twin-bodies.js';
import { engineOf } from './twin-questions.js';

type Gateway = Pick<ServedGateway, 'adminUrl'>;
type Served = Pick<Endpoint, 'managed' | 'name' | 'policy' | 'profiles' | 'replicas'>;
type Options = Readonly<Record<string, unknown>>;

/** Keys in milliseconds, which flags take in microseconds. */
const IN_MICROSECONDS = ['dispatch_tick_ms', 'request_ttl_ms'];

/**
 * The lines of `twinyard` that put the same question to the same gateway; none where flags cannot express it: options that are no plain
 * values.
 */
export function whatIfCommands(gateway: Gateway, endpoint: Served, body: WhatIfBody): string[] {
  const { admission, gpu, last, policies = [], replicas, runs } = body;
  const given = [...policies, ...(admission === undefined ? [] : [admission])];
  if (!given.every(({ options }) => Object.values(options).every(isPlain))) return [];
  const { name, workspace } = endpointName(endpoint);
  const common = [
    ...['whatif', '--gateway', gateway.adminUrl, '--endpoint', `${workspace}/${name}`, '--last', last],
    ...engineFlags(endpoint, body),
  ];
  const rest = [
    ...(replicas === undefined ? [] : ['--replicas', String(replicas)]),
    ...(gpu === undefined ? [] : ['--gpu', gpu]),
    ...(admission === undefined ? [] : choiceFlags('admission', admission.policy, admission.options)),
    ...queueFlags(body.flow_control),
    ...(runs === undefined ? [] : ['--runs', String(runs)]),
  ];
  // Options are for all policies of a line.
  const isOne = policies.length < 2 || policies.every(({ options }) => Object.keys(options).length === 0);
  const lines = isOne
    ? [choiceFlags('policy', policies.map(({ policy }) => policy).join(','), policies[0]?.options ?? {})]
    : policies.map(({ options, policy }) => choiceFlags('policy', policy, options));
  return lines.map((flags) => line([...common, ...flags, ...rest]));
}

/** The same for advice, which the gateway computes in either case. */
export function adviceCommands({ adminUrl }: Gateway, endpoint: Served, body: AdviceBody): string[] {
  const { hardware, last, metric, model, policies, runs, tp } = body;
  const { name, workspace } = endpointName(endpoint);
  return [
    line([
      ...['advise', '--gateway', adminUrl, '--endpoint', name, '--workspace', workspace, '--last', last],
      ...['--metric', metric.replace(/_ms$/, '').replaceAll('_', '-')],
      ...(policies === undefined ? [] : ['--policies', policies.join(',')]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(hardware === undefined ? [] : ['--hardware', hardware]),
      ...(tp === undefined ? [] : ['--tp', String(tp)]),
      ...(runs === undefined ? [] : ['--runs', String(runs)]),
    ]),
  ];
}

/** The engines, where the gateway has no profile of them or the request describes others. */
function engineFlags(endpoint: Served, body: WhatIfBody): string[] {
  const { hardware, model, profile, tp } = engineOf(endpoint, body);
  if (profile !== undefined) return [];
  return [
    ...['--model', model],
    ...(hardware === undefined ? [] : ['--hardware', hardware]),
    ...(tp === undefined ? [] : ['--tp', String(tp)]),
  ];
}

function choiceFlags(flag: 'policy' | 'admission', policy: string, options: Options): string[] {
  if (policy === '') return [];
  return [
    ...[`--${flag}`, policy],
    ...Object.entries(options).flatMap(([name, value]) => [`--${flag}-option`, `${name}=${value}`]),
  ];
}

/** Flags of the queue begin without limits; each setting that differs is named. */
function queueFlags(queue: WhatIfBody['flow_control']): string[] {
  if (queue === undefined) return [];
  if (queue === null) return ['--no-queue'];
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
