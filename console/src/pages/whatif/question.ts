import { isMap } from '../../parts/schema-form/json-schema';
import type { WhatIfSearch } from '../../shell/router';

/** What can be asked. */
export const QUESTIONS = {
  whatif: 'What if',
  advice: 'Best policy',
  plan: 'Least fleet',
} as const;
export type Question = keyof typeof QUESTIONS;

/** Policies of one question: more are hard to read side by side. */
export const MOST_POLICIES = 8;

type Options = Readonly<Record<string, unknown>>;

const filled = (entries: Options) =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));

const numeric = (text: string | undefined) => (text === undefined ? undefined : Number(text));

export const policiesIn = ({ policy }: WhatIfSearch) => (policy ?? '').split(',').filter((name) => name !== '');

/** A map of the address; what cannot be read is empty. */
export function mapIn(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isMap(value) ? value : {};
  } catch {
    return {};
  }
}

/** The map as the address has it; undefined leaves it out. */
export const mapText = (map: Options) => (Object.keys(map).length === 0 ? undefined : JSON.stringify(map));

/** A policy with what it sets. */
export interface AskedPolicy {
  readonly policy: string;
  readonly options: Options;
}

/** `lmetric batch_offset=1` */
export function policyText({ options, policy }: AskedPolicy): string {
  const shown = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return [policy, ...Object.entries(options).map(([name, value]) => `${name}=${shown(value)}`)].join(' ');
}

/** What the options of each policy are called in the address: a policy that is there again has a number, as in `lmetric 2`. */
const optionKeys = (names: readonly string[]): string[] =>
  names.map((name, i) => {
    const before = names.slice(0, i).filter((one) => one === name).length;
    return before === 0 ? name : `${name} ${before + 1}`;
  });

/** The policies of an address, each with its options. */
export function askedIn(search: WhatIfSearch): AskedPolicy[] {
  const names = policiesIn(search);
  const all = mapIn(search.options);
  return optionKeys(names).map((key, i) => ({ policy: names[i]!, options: isMap(all[key]) ? all[key] : {} }));
}

/** The part of the address that has these policies. */
export function addressOf(asked: readonly AskedPolicy[]): Pick<WhatIfSearch, 'policy' | 'options'> {
  const keys = optionKeys(asked.map(({ policy }) => policy));
  const options = asked.flatMap((one, i) => (Object.keys(one.options).length === 0 ? [] : [[keys[i]!, one.options]]));
  return {
    policy: asked.map(({ policy }) => policy).join(',') || undefined,
    options: mapText(Object.fromEntries(options) as Options),
  };
}

/** What a question changes besides routing, in words: a switch of the policy leaves it as it is. */
export function besidesRouting(asked: Options): string[] {
  const { admission, flow_control: queue, gpu, replicas } = asked;
  return [
    ...(admission === undefined ? [] : [`admission ${policyText(admission as AskedPolicy)}`]),
    ...(queue === undefined ? [] : [queue === null ? 'no queue before routing' : 'the queue before routing']),
    ...(replicas === undefined ? [] : [`${replicas} replica${replicas === 1 ? '' : 's'}`]),
    ...(gpu === undefined ? [] : [`GPU ${gpu}`]),
  ];
}

/** The body of the request that a page with this address sends. */
export function bodyOf(question: Question, search: WhatIfSearch): object {
  const { gpu, hardware, last, metric, model, queue, rate, replicas, times, to, tp, workload } = search;
  const policies = policiesIn(search);
  const engine = { model, hardware, tp: numeric(tp) };
  const common = filled({ last, to, ...engine });
  if (question === 'advice')
    return { ...common, ...filled({ metric }), ...(policies.length === 0 ? {} : { policies }) };
  if (question === 'plan') {
    const limits = [
      ['ttft', 'p99', search.ttft],
      ['itl', 'mean', search.itl],
      ['e2e', 'p95', search.e2e],
    ] as const;
    return {
      ...common,
      slos: limits.flatMap(([of, statistic, limit]) =>
        limit === undefined ? [] : [{ metric: of, statistic, limit_ms: Number(limit) }],
      ),
      ...filled({ policy: policies[0], workload }),
      ...(workload === undefined ? filled({ times: numeric(times) }) : filled({ rate: numeric(rate) })),
    };
  }
  const { admission, admission_options: admissionOptions } = search;
  return {
    ...common,
    ...(policies.length === 0 ? {} : { policies: askedIn(search) }),
    ...filled({ replicas: numeric(replicas), gpu }),
    ...(admission === undefined ? {} : { admission: { policy: admission, options: mapIn(admissionOptions) } }),
    ...(queue === undefined ? {} : { flow_control: queue === 'none' ? null : mapIn(queue) }),
  };
}

/** The address of this page for a question that was asked before. */
export function searchOf(kind: Question, asked: Options): WhatIfSearch {
  const text = (value: unknown) => (value === undefined ? undefined : String(value));
  const policies = ((asked.policies ?? []) as (AskedPolicy | string)[]).map((one) =>
    typeof one === 'string' ? { policy: one, options: {} } : one,
  );
  const slos = (asked.slos ?? []) as { metric: string; limit_ms: number }[];
  const limitOf = (of: string) => text(slos.find(({ metric }) => metric === of)?.limit_ms);
  const admission = asked.admission as AskedPolicy | undefined;
  const queue = asked.flow_control as Options | null | undefined;
  return {
    ask: kind === 'whatif' ? undefined : kind,
    ...{ last: text(asked.last), to: text(asked.to) },
    ...(kind === 'plan' ? { policy: text(asked.policy) } : addressOf(policies)),
    ...{ replicas: text(asked.replicas), gpu: text(asked.gpu) },
    ...{ admission: admission?.policy, admission_options: mapText(admission?.options ?? {}) },
    queue: queue === null ? 'none' : queue === undefined ? undefined : JSON.stringify(queue),
    metric: text(asked.metric),
    ...{ ttft: limitOf('ttft'), itl: limitOf('itl'), e2e: limitOf('e2e') },
    times: kind === 'plan' && asked.workload === undefined ? text(asked.times) : undefined,
    ...{ workload: text(asked.workload), rate: text(asked.rate) },
    ...{ model: text(asked.model), hardware: text(asked.hardware), tp: text(asked.tp) },
  };
}
