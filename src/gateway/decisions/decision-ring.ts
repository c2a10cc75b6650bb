import type { Explanation } from '../../policy/explanation.js';
import type { DecidingFleet } from '../fleet/deciding-fleet.js';

/** Numbers kept of each replica in a decision, in this order; score terms follow. */
const COLUMNS = [
  'queued',
  'running',
  'kvUsed',
  'inFlight',
  'pendingPrefillTokens',
  'ongoingDecodeTokens',
  'routedBlocks',
  'ageUs',
  'score',
] as const;
const MOST_TERMS = 8;
const WIDTH = COLUMNS.length + MOST_TERMS;

type Column = (typeof COLUMNS)[number];

/** One decision with the view it was made from. */
export interface DecisionRecord {
  id: string;
  endpoint: string;
  policy: string;
  atUs: number;
  inputTokens: number;
  session: string;
  blockSize: number;
  blockCount: number;
  replica: string | null;
  attempt: number;
  rule: string;
  tied: number;
  replicas: RecordedReplica[];
}

export interface RecordedReplica extends Record<Column, number> {
  id: string;
  /** Why it could not be chosen, null when it could. */
  removed: string | null;
  terms: Record<string, number>;
}

/** The facts of a decision that are not in the view. */
export type DecisionFacts = Pick<
  DecisionRecord,
  'id' | 'endpoint' | 'atUs' | 'inputTokens' | 'session' | 'blockCount' | 'attempt'
>;

interface Entry {
  facts: DecisionFacts;
  policy: string;
  blockSize: number;
  ids: readonly string[];
  chosen: number;
  rule: string;
  tied: number;
  removed: ReadonlyMap<number, string> | null;
  terms: readonly string[];
  numbers: Float64Array;
}

const NO_TERMS: readonly string[] = [];

/**
 * The last decisions, a bounded number of them: the oldest makes room for the newest. An entry that is overwritten lends the
 * new one its numbers, so that nothing piles up. Looking one up walks back through all: that happens for people, not requests.
 */
export class DecisionRing {
  readonly #most: number;
  readonly #entries: Entry[] = [];
  #next = 0;

  constructor(most: number) {
    this.#most = Math.max(1, most);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** After the decision: notes the fleet's view as the policy saw it and how it chose. */
  add(facts: DecisionFacts, fleet: DecidingFleet, chosen: number, why: Explanation): void {
    const { view } = fleet;
    const old = this.#entries[this.#next];
    const room = view.size * WIDTH;
    const numbers = old !== undefined && old.numbers.length >= room ? old.numbers : new Float64Array(room);
    // Terms have the same names as long as the policy is the same.
    let terms = old?.terms ?? NO_TERMS;
    if (!sameNames(terms, why.terms)) terms = [...why.terms.keys()].slice(0, MOST_TERMS);
    for (let t = 0; t < terms.length; t++) {
      const values = why.terms.get(terms[t]!)!;
      for (let slot = 0; slot < view.size; slot++) numbers[slot * WIDTH + COLUMNS.length + t] = values[slot]!;
    }
    for (let slot = 0; slot < view.size; slot++) {
      let at = slot * WIDTH;
      numbers[at++] = view.queued[slot]!;
      numbers[at++] = view.running[slot]!;
      numbers[at++] = view.kvUsed[slot]!;
      // The request itself has been placed by now.
      numbers[at++] = view.inFlight[slot]! - (slot === chosen ? 1 : 0);
      numbers[at++] = view.pendingPrefillTokens[slot]!;
      numbers[at++] = view.ongoingDecodeTokens[slot]!;
      numbers[at++] = fleet.routedBlocks[slot]!;
      numbers[at++] = view.reportedAgeUs[slot]!;
      numbers[at++] = why.scored ? why.scores[slot]! : Number.NaN;
    }
    this.#entries[this.#next] = {
      facts,
      policy: fleet.config.name,
      blockSize: fleet.blockSize,
      ids: view.ids,
      chosen,
      rule: why.rule,
      tied: why.tied,
      removed: why.removed.size === 0 ? null : new Map(why.removed),
      terms,
      numbers,
    };
    this.#next = (this.#next + 1) % this.#most;
  }

  /** The last decision about a request; undefined when it was never made or has made room. */
  find(id: string): DecisionRecord | undefined {
    for (let i = 1; i <= this.#entries.length; i++) {
      const entry = this.#back(i);
      if (entry.facts.id === id) return recordOf(entry);
    }
    return undefined;
  }

  /** The last decisions, newest first. */
  latest(count: number): DecisionRecord[] {
    return Array.from({ length: Math.min(count, this.#entries.length) }, (_, i) => recordOf(this.#back(i + 1)));
  }

  /** The n-th entry from the end, from 1. */
  #back(n: number): Entry {
    const { length } = this.#entries;
    return this.#entries[(this.#next - n + length) % length]!;
  }
}

function sameNames(names: readonly string[], terms: ReadonlyMap<string, unknown>): boolean {
  if (names.length !== Math.min(terms.size, MOST_TERMS)) return false;
  for (let i = 0; i < names.length; i++) if (!terms.has(names[i]!)) return false;
  return true;
}

function recordOf(entry: Entry): DecisionRecord {
  const { facts, numbers } = entry;
  const replicas = entry.ids.map((id, slot): RecordedReplica => {
    const at = slot * WIDTH;
    const columns = Object.fromEntries(COLUMNS.map((name, i) => [name, numbers[at + i]!])) as Record<Column, number>;
    const terms = entry.terms.map((name, i): [string, number] => [name, numbers[at + COLUMNS.length + i]!]);
    return { id, removed: entry.removed?.get(slot) ?? null, ...columns, terms: Object.fromEntries(terms) };
  });
  return {
    ...facts,
    policy: entry.policy,
    blockSize: entry.blockSize,
    replica: entry.chosen < 0 ? null : entry.ids[entry.chosen]!,
    rule: entry.rule,
    tied: entry.tied,
    replicas,
  };
}
