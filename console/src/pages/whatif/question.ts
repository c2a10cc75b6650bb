import { optionsOf } from '../../parts/policy-options';
import type { WhatIfSearch } from '../../shell/router';

/** What can be asked. */
export const QUESTIONS = {
  whatif: 'What if',
  advice: 'Best policy',
  plan: 'Least fleet',
} as const;
export type Question = keyof typeof QUESTIONS;

const filled = (entries: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));

const numeric = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/** The body of the request that a page with this address sends. */
export function bodyOf(question: Question, search: WhatIfSearch): object {
  const { gpu, hardware, last, metric, model, options, policy, queue, rate, replicas, times, tp, workload } = search;
  const engine = { model, hardware, tp: numeric(tp) };
  const common = filled({ last, ...engine });
  if (question === 'advice') return { ...common, ...filled({ metric }) };
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
      ...filled({ policy, workload }),
      ...(workload === undefined ? filled({ times: numeric(times) }) : filled({ rate: numeric(rate) })),
    };
  }
  return {
    ...common,
    ...(policy === undefined ? {} : { policies: [{ policy, options: optionsOf(options ?? '') }] }),
    ...filled({ replicas: numeric(replicas), gpu }),
    ...(queue === undefined ? {} : { flow_control: queue === 'none' ? null : { max_concurrency: Number(queue) } }),
  };
}

/** The address of this page for a question that was asked before. */
export function searchOf(kind: Question, asked: Readonly<Record<string, unknown>>): WhatIfSearch {
  const text = (value: unknown) => (value === undefined ? undefined : String(value));
  const [first] = (asked.policies ?? []) as { policy: string; options?: Record<string, unknown> }[];
  const slos = (asked.slos ?? []) as { metric: string; limit_ms: number }[];
  const limitOf = (of: string) => text(slos.find(({ metric }) => metric === of)?.limit_ms);
  const isWhatIf = kind === 'whatif';
  const options = Object.entries(first?.options ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    ask: isWhatIf ? undefined : kind,
    last: text(asked.last),
    policy: isWhatIf ? first?.policy : kind === 'plan' ? text(asked.policy) : undefined,
    options: options.length === 0 ? undefined : options.join(', '),
    replicas: text(asked.replicas),
    gpu: text(asked.gpu),
    queue:
      asked.flow_control === null
        ? 'none'
        : text((asked.flow_control as { max_concurrency?: number } | undefined)?.max_concurrency),
    metric: text(asked.metric),
    ...{ ttft: limitOf('ttft'), itl: limitOf('itl'), e2e: limitOf('e2e') },
    times: kind === 'plan' && asked.workload === undefined ? text(asked.times) : undefined,
    ...{ workload: text(asked.workload), rate: text(asked.rate) },
    ...{ model: text(asked.model), hardware: text(asked.hardware), tp: text(asked.tp) },
  };
}
