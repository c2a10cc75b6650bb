import type { WhatIfSearch } from '../../shell/router';
import { bodyOf, mapIn, type Question, searchOf } from './question';

type Options = Readonly<Record<string, unknown>>;

/** What a question has where its address says nothing. */
const STANDARD: Readonly<Record<Question, WhatIfSearch>> = {
  whatif: { last: '1h' },
  advice: { last: '24h', metric: 'ttft_p90_ms' },
  plan: { last: '1h', times: '1' },
};

/**
 * Whether an address asks what a job was asked.
 * @param queue the settings of a queue that nothing sets: a job has them all
 */
export function isSameQuestion(kind: Question, search: WhatIfSearch, asked: Options, queue: Options): boolean {
  return textOf(kind, search, queue) === textOf(kind, searchOf(kind, asked), queue);
}

/** The question as an address that leaves nothing open. */
function textOf(kind: Question, search: WhatIfSearch, standardQueue: Options): string {
  const own = searchOf(kind, bodyOf(kind, search) as Options);
  const queue = own.queue === undefined || own.queue === 'none' ? own.queue : { ...standardQueue, ...mapIn(own.queue) };
  return JSON.stringify(sorted({ ...STANDARD[kind], ...without(own), queue }));
}

const without = (search: WhatIfSearch) =>
  Object.fromEntries(Object.entries(search).filter(([, one]) => one !== undefined));

/** Keys in order, at every depth; maps of the address as maps. */
function sorted(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith('{')) return sorted(mapIn(value));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
