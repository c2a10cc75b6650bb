import type { Endpoint } from '../../../gateway/fleet/endpoint/endpoint.js';
import { endpointName } from '../../../gateway/fleet/endpoint-name.js';
import { shellWord } from '../../../kernel/text/shell-word.js';
import { FLOW_CONTROL_SCHEMA } from '../../../policy/bundle/flow-control-schema.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import type { ServedGateway } from '../../api-host.js';
import type { AdviceBody, PlanBody, WhatIfBody } from '../../views/twin-bodies.js';
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
  const choices = [...policies, ...(admission === undefined ? [] : [admission])];
  if (!choices.every(({ options }) => Object.values(options).every(isPlain))) return [];
  const { name, workspace } = endpointName(endpoint);
  const common = [
    ...['whatif', '--gateway', gateway.adminUrl, '--endpoint', `${workspace}/${name}`, '--last', last],
    ...given('--to', body.to),
    ...engineFlags(endpoint, body),
  ];
  const rest = [
    ...given('--replicas', replicas),
    ...given('--gpu', gpu),
    ...(admission === undefined ? [] : choiceFlags('admission', admission.policy, admission.options)),
    ...queueFlags(body.flow_control),
    ...given('--runs', runs),
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
  const { last, metric, policies, runs } = body;
  const { name, workspace } = endpointName(endpoint);
  return [
    line([
      ...['advise', '--gateway', adminUrl, '--endpoint', name, '--workspace', workspace, '--last', last],
      ...['--metric', metric.replace(/_ms$/, '').replaceAll('_', '-')],
      ...given('--policies', policies?.join(',')),
      ...asGiven(body),
      ...given('--to', body.to),
      ...given('--runs', runs),
    ]),
  ];
}

/** The same for the least fleet, which the gateway computes in either case. */
export function planCommands({ adminUrl }: Gateway, endpoint: Served, body: PlanBody): string[] {
  const { last, max_replicas, policy, rate, requests, slos, times, to, workload } = body;
  const { name, workspace } = endpointName(endpoint);
  const traffic =
    workload === undefined
      ? ['--last', last, ...given('--to', to), ...(times === 1 ? [] : ['--rate', `${times}x`])]
      : ['--workload', workload, ...given('--rate', rate)];
  const limits = (['ttft', 'itl', 'tpot', 'e2e'] as const).flatMap((metric) => {
    const own = slos.filter((one) => one.metric === metric);
    if (own.length === 0) return [];
    return [`--slo-${metric}`, own.map(({ limit_ms, statistic }) => `${statistic}=${limit_ms}ms`).join(',')];
  });
  return [
    line([
      ...['plan', '--gateway', adminUrl, '--endpoint', `${workspace}/${name}`, ...traffic, ...limits],
      ...given('--routing-policy', policy),
      ...asGiven(body),
      ...['--max-instances', String(max_replicas)],
      ...given('--num-requests', requests),
    ]),
  ];
}

const given = (flag: string, value: string | number | undefined) => (value === undefined ? [] : [flag, String(value)]);

const asGiven = ({ hardware, model, tp }: Pick<WhatIfBody, 'model' | 'hardware' | 'tp'>) => [
  ...given('--model', model),
  ...given('--hardware', hardware),
  ...given('--tp', tp),
];

/** The engines, where the gateway has no profile of them or the request describes others. */
function engineFlags(endpoint: Served, body: WhatIfBody): string[] {
  const { hardware, model, profile, tp } = engineOf(endpoint, body);
  if (profile !== undefined) return [];
  return asGiven({ model, hardware, tp });
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
