import type { DecidingFleet, DecisionInput } from '../../gateway/decisions/deciding-fleet.js';
import type { DecisionObserver, DecisionWatch } from '../../gateway/decisions/decision-observer.js';
import type { RequestFacts } from '../../gateway/request/request-facts.js';
import { grownArray, roomFor } from '../../kernel/grown-array.js';
import type { RandomStream } from '../../kernel/random-stream.js';
import { DecisionCopies } from './decision-copies.js';
import { ObservedDecision } from './observed-decision.js';
import { ENDED, FIRST_TOKEN, NO_COPY, PLACED, SeenQueue } from './seen-queue.js';
import type { Shadow } from './shadow.js';
import { EarnedTime } from './time/earned-time.js';
import type { ShadowClock } from './time/shadow-clock.js';

/** Copies after which the shadows decide at once, and their prompt blocks and numbers, which grow with the fleet. */
const BATCH = 64;
const BATCH_BLOCKS = 16_384;
const BATCH_NUMBERS = 16_384;
/** Copies that wait, with their blocks and numbers; further decisions are dropped. */
const MOST_COPIES = 128;
const MOST_BLOCKS = 262_144;
const MOST_NUMBERS = 65_536;
/** Placements that wait; of further requests it is not known where they are. */
const MOST_PLACEMENTS = 4096;
/**
 * Processor time of a batch after which no further shadow begins in it: the first decisions of one build what it remembers of the fleet.
 */
const MOST_BEFORE_BEGIN_US = 5000;
/** What copying takes, relative to deciding: looking at the clock takes longer than a copy. */
const COPYING = 0.25;

export interface ShadowParts {
  readonly clock: ShadowClock;
  /** Which decisions are dropped. */
  readonly random: RandomStream;
  /** Called with an error of a policy, after its shadow has stopped. */
  readonly failed: (error: unknown, shadow: Shadow) => void;
}

/**
 * The shadows of an endpoint. On the response path a decision is only copied; the shadows decide about it later, many at a time.
 * Each has a share of the processor time that the gateway uses, and less while the gateway is busy. Where that is not enough for all
 * decisions, some are drawn at random, and the others are dropped: not copied, only counted.
 */
export class EndpointShadows implements DecisionObserver {
  #shadows: readonly Shadow[] = [];
  readonly #watch: DecisionWatch;
  readonly #parts: ShadowParts;
  readonly #earned: EarnedTime;
  /** The greatest chance of all shadows. */
  #chance = 1;
  /** Whether any shadow remembers where sessions are. */
  #followsSessions = false;
  readonly #copies = new DecisionCopies();
  readonly #seen = new ObservedDecision(this.#copies);
  readonly #queue = new SeenQueue();
  /** Requests placed since the shadows decided last. */
  #placed = 0;
  /** The number of the last one in the ring, which has those of all endpoints. */
  #decision = 0;
  /** By request: whether its decision was copied. */
  #isFollowed = new Uint8Array(0);
  /** Which shadow decides first. */
  #first = 0;
  #isLater = false;
  #isSoon = false;

  constructor(watch: DecisionWatch, parts: ShadowParts) {
    this.#watch = watch;
    this.#parts = parts;
    this.#earned = new EarnedTime(parts.clock);
  }

  get shadows(): readonly Shadow[] {
    return this.#shadows;
  }

  /** These follow the endpoint from now on; those that were there before go on. */
  set(shadows: readonly Shadow[]): void {
    this.#flush();
    this.#shadows = shadows;
    this.#plan();
  }

  decided(
    decision: number,
    request: number,
    chosen: number,
    input: DecisionInput,
    facts: RequestFacts,
    fleet: DecidingFleet,
  ): void {
    this.#placed++;
    this.#decision = decision;
    if (!this.#isLater) this.#scheduleLate();
    const chance = this.#chance;
    const draw = chance < 1 ? this.#parts.random.next() : 0;
    const isCopied = draw < chance && this.#hasRoom(input.blockCount);
    if (isCopied || request < this.#isFollowed.length) this.#follow(request, isCopied);
    if (!isCopied && (input.session === '' || !this.#followsSessions)) return;
    const queue = this.#queue;
    if (queue.placements >= MOST_PLACEMENTS) return;
    const at = queue.add(PLACED, request, input.nowUs);
    queue.draw[at] = draw;
    queue.replica[at] = chosen;
    queue.session[at] = input.session;
    queue.ids[at] = fleet.view.ids;
    queue.copy[at] = isCopied ? this.#copies.add(decision, request, chosen, input, facts, fleet) : NO_COPY;
    if (!this.#isSoon && this.#isFull()) this.#scheduleSoon();
  }

  firstToken(request: number, nowUs: number): void {
    if (this.#isFollowed[request] === 1) this.#queue.add(FIRST_TOKEN, request, nowUs);
  }

  ended(request: number, nowUs: number): void {
    if (this.#isFollowed[request] !== 1) return;
    this.#isFollowed[request] = 0;
    this.#queue.add(ENDED, request, nowUs);
    if (!this.#isLater) this.#scheduleLate();
  }

  #follow(request: number, isCopied: boolean): void {
    if (request >= this.#isFollowed.length) {
      this.#isFollowed = grownArray(this.#isFollowed, roomFor(request, this.#isFollowed.length));
    }
    this.#isFollowed[request] = isCopied ? 1 : 0;
  }

  #hasRoom(blockCount: number): boolean {
    const { blockCount: waiting, numberCount, size } = this.#copies;
    if (size === 0) return true;
    return size < MOST_COPIES && numberCount < MOST_NUMBERS && waiting + blockCount <= MOST_BLOCKS;
  }

  #isFull(): boolean {
    const { blockCount, numberCount, size } = this.#copies;
    const isLong = blockCount >= BATCH_BLOCKS || numberCount >= BATCH_NUMBERS;
    return size >= BATCH || isLong || this.#queue.placements >= MOST_PLACEMENTS / 2;
  }

  #scheduleSoon(): void {
    this.#isSoon = true;
    this.#parts.clock.soon(this.#flush);
  }

  #scheduleLate(): void {
    this.#isLater = true;
    this.#parts.clock.later(this.#flushLate);
  }

  readonly #flushLate = (): void => {
    this.#isLater = false;
    this.#flush();
  };

  readonly #flush = (): void => {
    this.#isSoon = false;
    if (this.#placed === 0 && this.#queue.size === 0) return;
    try {
      this.#decide();
      this.#copies.note(this.#watch);
    } catch (error) {
      for (const shadow of this.#running()) this.#stop(shadow, error);
    }
    this.#copies.clear();
    this.#queue.clear();
    this.#placed = 0;
    this.#plan();
  };

  #running(): Shadow[] {
    return this.#shadows.filter(({ stopped }) => stopped === null);
  }

  /** Everything that waits, shadow by shadow, so that each is measured with few looks at the clock. */
  #decide(): void {
    const { clock } = this.#parts;
    const shadows = this.#shadows;
    const earned = this.#earned;
    const isBusy = clock.isBusy();
    const beganUs = earned.begin(this.#placed, this.#decision, isBusy);
    let fromUs = beganUs;
    // The first of a batch finds nothing in the processor's caches: they take turns.
    this.#first = (this.#first + 1) % shadows.length;
    for (let i = 0; i < shadows.length; i++) {
      const place = (this.#first + i) % shadows.length;
      const shadow = shadows[place]!;
      if (shadow.stopped !== null) continue;
      if (!shadow.hasBegun && fromUs - beganUs >= MOST_BEFORE_BEGIN_US) {
        shadow.begin(0, this.#placed, isBusy);
        continue;
      }
      shadow.share.earn(earned.us);
      const decisions = this.#guard(shadow, () => this.#run(shadow, place, isBusy)) ?? 0;
      const untilUs = clock.usedUs();
      shadow.share.use((untilUs - fromUs) * (1 + COPYING), decisions);
      fromUs = untilUs;
    }
    earned.end(fromUs);
  }

  /** Takes everything in its order. Returns about how many requests it decided. */
  #run(shadow: Shadow, place: number, isBusy: boolean): number {
    const queue = this.#queue;
    const seen = this.#seen;
    const { atUs, copy, draw, kind, request, session, size } = queue;
    const chance = shadow.share.isLeft ? shadow.share.chance : 0;
    let decisions = 0;
    for (let i = 0; i < size; i++) if (kind[i] === PLACED && copy[i] !== NO_COPY && draw[i]! < chance) decisions++;
    shadow.begin(decisions, this.#placed - decisions, isBusy);
    for (let i = 0; i < size; i++) {
      if (kind[i] === FIRST_TOKEN) shadow.firstToken(request[i]!, atUs[i]!);
      else if (kind[i] === ENDED) shadow.ended(request[i]!, atUs[i]!);
      else if (copy[i] !== NO_COPY && draw[i]! < chance) {
        seen.open(copy[i]!);
        shadow.decide(seen, place);
      } else if (session[i] !== '') shadow.follow(queue, i);
    }
    return decisions;
  }

  /** A shadow whose policy fails stops; the others go on. */
  #guard<Result>(shadow: Shadow, work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      this.#stop(shadow, error);
      return undefined;
    }
  }

  #stop(shadow: Shadow, error: unknown): void {
    shadow.stop(error);
    this.#parts.failed(error, shadow);
  }

  /** How much of the next requests is copied. */
  #plan(): void {
    const running = this.#running();
    this.#chance = 0;
    this.#followsSessions = false;
    this.#copies.keepsFacts = false;
    for (const shadow of running) {
      shadow.share.plan(this.#earned.usPerRequest);
      this.#chance = Math.max(this.#chance, shadow.share.chance);
      this.#followsSessions ||= shadow.followsSessions;
      this.#copies.keepsFacts ||= shadow.readsBody;
    }
    this.#watch.observer = running.length === 0 ? null : this;
    if (running.length === 0) this.#isFollowed.fill(0);
  }
}
