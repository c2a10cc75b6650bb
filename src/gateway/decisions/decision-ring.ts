import type { Explanation, NamedColumns } from '../../policy/explanation.js';
import type { FlipRecord } from '../../policy/flip/flip-record.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { DecidingFleet } from './deciding-fleet.js';
import { type DecisionEntry, emptyDecision, recordOf } from './decision-entry.js';
import {
  type DecisionColumn,
  ELIGIBLE,
  flipOf,
  MOST_TERMS,
  nearestSlots,
  TERMS_AT,
  WIDTH,
} from './decision-numbers.js';
import { copyShadowDecision, emptyShadowDecision, type ShadowDecision } from './shadow-decision.js';

/** For the numbers of all decisions together; with many replicas fewer decisions fit. */
const MOST_BYTES = 64 * 1024 * 1024;

/** One decision with the view it was made from. */
export interface DecisionRecord {
  id: string;
  endpoint: string;
  policy: string;
  /** Names the policy together with its options. */
  policyHash: string;
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
  /** What shadow policies chose; a shadow that did not decide about it is missing. */
  shadows: readonly ShadowDecision[];
}

/** A decision that describes some of the replicas, with how many there were. */
export interface BoundedDecision extends DecisionRecord {
  replicaCount: number;
}

/** One that is still in the ring. */
export interface FoundDecision {
  decision: BoundedDecision;
  /** A search of up to some milliseconds. To be called at once: a later decision overwrites what it reads. */
  findFlip: () => FlipRecord | null;
}

/** Numbers as JSON can hold them: null for a missing score and for the age of a signal that was never reported. */
export interface RecordedReplica extends Record<DecisionColumn, number | null> {
  id: string;
  /** Why it could not be chosen, null when it could. */
  removed: string | null;
  /** Signals that the replica did not report or that were stale: their values were assumed. */
  missing: readonly string[];
  terms: Record<string, number | null>;
}

/** The facts of a decision that are not in the view. The caller may reuse the object. */
export interface Decision {
  facts: Pick<RequestFacts, 'id' | 'session' | 'inputTokens'>;
  endpoint: string;
  atUs: number;
  blockCount: number;
  attempt: number;
}

/**
 * The last decisions, a bounded number of them: the newest overwrites the oldest, entry, numbers and all, so that nothing is
 * allocated for long. A lookup walks back through all entries: it happens for explanations, not for requests.
 */
export class DecisionRing {
  readonly #most: number;
  readonly #mostBytes: number;
  #entries: DecisionEntry[] = [];
  #next = 0;
  /** How many numbers the widest decision so far has, and how many decisions of that width may be kept. */
  #room = 0;
  #limit: number;
  /** Decisions ever added: each is numbered by it, the first 1. */
  #added = 0;

  constructor(most: number, mostBytes = MOST_BYTES) {
    this.#most = most;
    this.#mostBytes = mostBytes;
    this.#limit = most;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The number of the last decision. */
  get added(): number {
    return this.#added;
  }

  /** Copies what shadows chose to a decision unless it has been overwritten. @param number of the decision */
  note(number: number, shadows: readonly ShadowDecision[]): void {
    const back = this.#added - number + 1;
    if (back < 1 || back > this.#entries.length) return;
    const entry = this.#back(back);
    const noted = entry.shadows;
    while (noted.length < shadows.length) noted.push(emptyShadowDecision());
    for (let i = 0; i < shadows.length; i++) copyShadowDecision(shadows[i]!, noted[i]!);
    entry.shadowCount = shadows.length;
  }

  /** After the decision: records the fleet's view as the policy saw it and how it chose. */
  add(
    { facts, endpoint, atUs, blockCount, attempt }: Decision,
    fleet: DecidingFleet,
    chosen: number,
    why: Explanation,
  ): void {
    const { view } = fleet;
    const room = view.size * WIDTH;
    if (room > this.#room) this.#widen(room);
    let entry = this.#entries[this.#next];
    if (entry === undefined) {
      entry = emptyDecision();
      this.#entries.push(entry);
    }
    if (entry.numbers.length < room) entry.numbers = new Float64Array(room);
    // Terms have the same names as long as the policy is the same.
    if (!sameNames(entry.terms, why.terms)) entry.terms = why.terms.names().slice(0, MOST_TERMS);
    const { numbers, terms } = entry;
    for (let t = 0; t < terms.length; t++) {
      const values = why.terms.at(t);
      for (let slot = 0; slot < view.size; slot++) numbers[slot * WIDTH + TERMS_AT + t] = values[slot]!;
    }
    // The request itself has been placed by now: its own share is subtracted.
    const uncached =
      facts.inputTokens - Math.min(facts.inputTokens, (fleet.routedBlocks[chosen] ?? 0) * fleet.blockSize);
    for (let slot = 0; slot < view.size; slot++) {
      let at = slot * WIDTH;
      numbers[at++] = view.queued[slot]!;
      numbers[at++] = view.running[slot]!;
      numbers[at++] = view.kvUsed[slot]!;
      numbers[at++] = view.inFlight[slot]! - (slot === chosen ? 1 : 0);
      numbers[at++] = view.pendingPrefillTokens[slot]! - (slot === chosen ? uncached : 0);
      numbers[at++] = view.ongoingDecodeTokens[slot]!;
      numbers[at++] = fleet.routedBlocks[slot]!;
      numbers[at++] = view.reportedAgeUs[slot]!;
      numbers[at++] = why.scored ? why.scores[slot]! : Number.NaN;
      numbers[at] = fleet.signals.known[slot]! | (view.eligible[slot] === 1 ? ELIGIBLE : 0);
    }
    entry.past.save(fleet, chosen, why);
    entry.id = facts.id;
    entry.endpoint = endpoint;
    entry.session = facts.session;
    entry.policy = fleet.config.name;
    entry.policyHash = fleet.policyHash;
    entry.atUs = atUs;
    entry.inputTokens = facts.inputTokens;
    entry.blockCount = blockCount;
    entry.attempt = attempt;
    entry.blockSize = fleet.blockSize;
    entry.ids = view.ids;
    entry.chosen = chosen;
    entry.rule = why.rule;
    entry.tied = why.tied;
    entry.removed = why.removed.size === 0 ? null : new Map(why.removed);
    entry.shadowCount = 0;
    this.#next = (this.#next + 1) % this.#limit;
    this.#added++;
  }

  /** The last decision about a request; undefined when there is none, or no longer. */
  find(id: string): DecisionRecord | undefined {
    for (let i = 1; i <= this.#entries.length; i++) {
      const entry = this.#back(i);
      if (entry.id === id) return recordOf(entry);
    }
    return undefined;
  }

  /** The same with what would have flipped it: a search of some milliseconds. */
  explain(id: string): (DecisionRecord & { flip: FlipRecord | null }) | undefined {
    for (let i = 1; i <= this.#entries.length; i++) {
      const entry = this.#back(i);
      if (entry.id === id) return { ...recordOf(entry), flip: flipIn(entry) };
    }
    return undefined;
  }

  /**
   * The last decision about each of some requests, with a bounded number of replicas. One walk for all of them.
   * @param sinceUs no decision about them is older
   */
  lastOf(ids: ReadonlySet<string>, sinceUs: number, mostReplicas: number): Map<string, FoundDecision> {
    const found = new Map<string, FoundDecision>();
    for (let i = 1; i <= this.#entries.length && found.size < ids.size; i++) {
      const entry = this.#back(i);
      if (entry.atUs < sinceUs) break;
      if (!ids.has(entry.id) || found.has(entry.id)) continue;
      found.set(entry.id, { decision: boundedRecord(entry, mostReplicas), findFlip: () => flipIn(entry) });
    }
    return found;
  }

  /** The last decisions, newest first. */
  latest(count: number): DecisionRecord[] {
    return this.before(Number.POSITIVE_INFINITY, count).map(({ record }) => record);
  }

  /**
   * Decisions that were made before one, the latest first.
   * @param number of that decision; Infinity for the latest of all
   * @param isWanted only of endpoints of these names
   * @param mostReplicas of each that are described
   */
  before(
    number: number,
    count: number,
    isWanted: (endpoint: string) => boolean = () => true,
    mostReplicas = Number.POSITIVE_INFINITY,
  ): { number: number; record: BoundedDecision }[] {
    const found: { number: number; record: BoundedDecision }[] = [];
    for (let i = 1; i <= this.#entries.length && found.length < count; i++) {
      const own = this.#added - i + 1;
      const entry = this.#back(i);
      if (own < number && entry.id !== '' && isWanted(entry.endpoint))
        found.push({ number: own, record: boundedRecord(entry, mostReplicas) });
    }
    return found;
  }

  /** Decisions of some endpoints are found no more. @param untilUs later ones are */
  forget(isOf: (endpoint: string) => boolean, untilUs: number): void {
    for (const entry of this.#entries) if (entry.atUs <= untilUs && isOf(entry.endpoint)) entry.id = '';
  }

  /** Decisions have become wider: the oldest are dropped. */
  #widen(room: number): void {
    const limit = Math.max(1, Math.min(this.#most, Math.floor(this.#mostBytes / (room * 8))));
    const kept = Math.min(limit, this.#entries.length);
    this.#entries = Array.from({ length: kept }, (_, i) => this.#back(kept - i));
    this.#next = kept % limit;
    this.#room = room;
    this.#limit = limit;
  }

  /** The n-th entry from the end, from 1. */
  #back(n: number): DecisionEntry {
    const { length } = this.#entries;
    return this.#entries[(this.#next - n + length) % length]!;
  }
}

function boundedRecord(entry: DecisionEntry, mostReplicas: number): BoundedDecision {
  const { chosen, ids, numbers } = entry;
  const slots = nearestSlots(numbers, ids.length, chosen, mostReplicas);
  return { ...recordOf(entry, slots), replicaCount: ids.length };
}

const flipIn = ({ chosen, ids, numbers, past }: DecisionEntry) => flipOf(past, ids, numbers, chosen);

function sameNames(names: readonly string[], terms: NamedColumns): boolean {
  if (names.length !== Math.min(terms.size, MOST_TERMS)) return false;
  for (let i = 0; i < names.length; i++) if (terms.name(i) !== names[i]) return false;
  return true;
}
