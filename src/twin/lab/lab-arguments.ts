import * as v from 'valibot';
import { FLOW_CONTROL_SCHEMA, type FlowControlKeys } from '../../policy/bundle/flow-control-schema.js';
import { admissionPolicy } from '../../policy/registry.js';
import { defaultOf, factsOf, type Schema } from '../../schema/facts.js';
import { kebabCase } from '../../schema/names.js';
import {
  LAB_REPLICAS,
  LAB_REQUESTS,
  LAB_SEEDS,
  type LabFleet,
  type LabInput,
  type LabQuestion,
} from './lab-question.js';

/** True: a flag without a value. */
type FlagValue = string | number | true | undefined;

/** The arguments of `compare` for a question. No value begins with a dash: the schema of the question and of uploads sees to it. */
export function labArguments(question: LabQuestion, input: LabInput | null, profile?: string): string[] {
  const { admission, fleet, policies, seeds, signal_age_ms: signalAgeMs, slo_ttft_ms: sloTtftMs, traffic } = question;
  const isReplay = input?.format === 'trace';
  const flags: [name: string, value: FlagValue][] = [
    ['workload', traffic.workload],
    ['workload-spec', input?.format === 'workload' ? input.name : undefined],
    ['trace-data', isReplay ? input.name : undefined],
    ['rate', traffic.rates?.join(',') ?? traffic.rate],
    ['num-requests', traffic.requests ?? (isReplay ? undefined : LAB_REQUESTS)],
    ...fleetFlags(fleet),
    ['latency-profile', profile],
    ['routing-policy', policies.join(',')],
    ['admission-policy', admission?.policy],
    ...Object.entries(admission?.options ?? {}).map(([option, value]): [string, FlagValue] => [
      admissionFlag(admission!.policy, option)!,
      value as number,
    ]),
    ...queueFlags(question.flow_control),
    ['snapshot-refresh-interval', signalAgeMs === undefined ? undefined : Math.round(signalAgeMs * 1000)],
    ['slo-ttft', sloTtftMs === undefined ? undefined : `${sloTtftMs}ms`],
    ['seeds', seeds ?? (isReplay ? undefined : LAB_SEEDS)],
  ];
  return flags.flatMap(([name, value]) =>
    value === undefined ? [] : value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
}

/** The flag of an option of an admission policy; undefined where only a policy file can set it. */
export function admissionFlag(policy: string, option: string): string | undefined {
  const options = admissionPolicy(policy).options as Readonly<Record<string, Schema>>;
  return Object.hasOwn(options, option) ? factsOf(options[option]!).flag?.name : undefined;
}

function fleetFlags({
  hardware,
  kinds,
  latency_model: latencyModel,
  model,
  replicas,
  tp,
}: LabFleet): [string, FlagValue][] {
  const written = kinds?.map(
    (kind) => `${kind.replicas}*${kind.hardware}${kind.tp === undefined ? '' : `:${kind.tp}`}`,
  );
  return [
    ['model', model],
    ['fleet', written?.join(',')],
    ['hardware', hardware],
    ['tp', tp],
    ['num-instances', kinds === undefined ? (replicas ?? LAB_REPLICAS) : undefined],
    ['latency-model', latencyModel],
  ];
}

/** Flags have other defaults than the section of a file: those that differ are written. Times are microseconds there. */
function queueFlags(given: FlowControlKeys | undefined): [string, FlagValue][] {
  if (given === undefined) return [];
  const keys = v.parse(FLOW_CONTROL_SCHEMA, given);
  const entries = FLOW_CONTROL_SCHEMA.entries as unknown as Readonly<Record<string, Schema>>;
  const flags = Object.entries(entries).map(([key, schema]): [string, FlagValue] => {
    const { flag } = factsOf(schema);
    const value = (keys as Readonly<Record<string, string | number | boolean>>)[key]!;
    const written = key.endsWith('_ms') ? Math.ceil((value as number) * 1000) : value;
    const isStandard = written === (flag?.default ?? defaultOf(schema));
    return [
      flag?.name ?? kebabCase(key),
      isStandard || written === false ? undefined : (written as string | number | true),
    ];
  });
  return [['flow-control', true], ...flags];
}
