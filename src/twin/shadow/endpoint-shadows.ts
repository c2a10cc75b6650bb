import type { DecidingFleet, DecisionInput } from '../../gateway/decisions/deciding-fleet.js';
import type { DecisionObserver, DecisionWatch } from '../../gateway/decisions/decision-observer.js';
import type { RequestFacts } from '../../gateway/request/request-facts.js';
import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { hitTokens } from '../../policy/request-features.js';
import { DecisionCopies } from './decision-copies.js';
import { ObservedDecision } from './observed-decision.js';
import { BUSY_SHARE, MOST_SHARE } from './processor-share.js';
import { ENDED, FIRST_TOKEN, NO_COPY, PLACED, SeenQueue } from './seen-queue.js';
import type { Shadow } from './shadow.js';
import type { ShadowClock } from './shadow-clock.js';

/** Copies after which the shadows decide at once. */
const BATCH = 32;
const BATCH_BLOCKS = 16_384;
/** Copies that wait, and their prompt blocks together; further decisions are dropped. */
const MOST_COPIES = 128;
const MOST_BLOCKS = 262_144;
/** Placements that wait; further requests are not followed at all. */
const MOST_PLACEMENTS = 4096;
/** What copying takes, relative to deciding: looking at the clock takes longer than a copy. */
const COPYING = 0.25;

/**
 * The shadows of an endpoint. On the response path a decision is only copied; the shadows decide about it later, many at a time.
 * Each has a share of the processor time that the gateway uses, and hardly any while the gateway is busy. Decisions beyond that
 * are dropped: not copied, only counted, with the replica that the request is on.
 */
export class EndpointShadows implements DecisionObserver {
  #shadows: readonly Shadow[] = [];
  readonly #watch: DecisionWatch;
  readonly #clock: ShadowClock;
  readonly #failed: (error: unknown) => void;
  /** Whether any shadow has time to decide. */
  #isCopying = true;
  readonly #copies = new DecisionCopies();
  readonly #seen = new ObservedDecision(this.#copies);
  readonly #queue = new SeenQueue();
  /** By request: whether its placement is or was in the queue. */
  #isFollowed = new Uint8Array(0);
  /** Processor time when shadows had decided last. */
  #usedUs: number;
  /** Which shadow decides first. */
  #first = 0;
  #isLater = false;
  #isSoon = false;

  /** @param failed called with an error of a policy, after which no shadow of the endpoint decides until they are set again */
  constructor(watch: DecisionWatch, clock: ShadowClock, failed: (error: unknown) => void) {
    this.#watch = watch;
    this.#clock = clock;
    this.#failed = failed;
    this.#usedUs = clock.usedUs();
  }

  get shadows(): readonly Shadow[] {
    return this.#shadows;
  }

  /** These follow the endpoint from now on; those that were there before go on. */
  set(shadows: readonly Shadow[]): void {
    this.#flush();
    this.#shadows = shadows;
    this.#isCopying = shadows.some(({ share }) => share.isLeft);
    this.#watch.observer = shadows.length === 0 ? null : this;
    if (shadows.length === 0) this.#isFollowed.fill(0);
  }

  decided(
    decision: number,
    request: number,
    chosen: number,
    input: DecisionInput,
    facts: RequestFacts,
    fleet: DecidingFleet,
  ): void {
    if (request >= this.#isFollowed.length) {
      this.#isFollowed = grownArray(this.#isFollowed, roomFor(request, this.#isFollowed.length));
    }
    const queue = this.#queue;
    const isFollowed = queue.placements < MOST_PLACEMENTS;
    this.#isFollowed[request] = isFollowed ? 1 : 0;
    if (!isFollowed) {
      for (const shadow of this.#shadows) shadow.dropped++;
      return;
    }
    const at = queue.add(PLACED, request, input.nowUs);
    queue.replica[at] = chosen;
    queue.inputTokens[at] = input.inputTokens;
    queue.hitTokens[at] = hitTokens(fleet.host.features, chosen);
    queue.session[at] = input.session;
    queue.ids[at] = fleet.view.ids;
    queue.copy[at] = this.#hasRoom(input.blockCount)
      ? this.#copies.add(decision, request, chosen, input, facts, fleet)
      : NO_COPY;
    this.#schedule();
  }

  firstToken(request: number, nowUs: number): void {
    if (this.#isFollowed[request] !== 1) return;
    this.#queue.add(FIRST_TOKEN, request, nowUs);
    this.#schedule();
  }

  ended(request: number, nowUs: number): void {
    if (this.#isFollowed[request] !== 1) return;
    this.#isFollowed[request] = 0;
    this.#queue.add(ENDED, request, nowUs);
    this.#schedule();
  }

  #hasRoom(blockCount: number): boolean {
    const { blockCount: waiting, size } = this.#copies;
    return this.#isCopying && size < MOST_COPIES && (waiting + blockCount <= MOST_BLOCKS || size === 0);
  }

  #schedule(): void {
    const { blockCount, size } = this.#copies;
    const isFull = size >= BATCH || blockCount >= BATCH_BLOCKS || this.#queue.placements >= MOST_PLACEMENTS / 2;
    if (isFull && !this.#isSoon) {
      this.#isSoon = true;
      this.#clock.soon(this.#flush);
    } else if (!isFull && !this.#isLater) {
      this.#isLater = true;
      this.#clock.later(this.#flushLate);
    }
  }

  readonly #flushLate = (): void => {
    this.#isLater = false;
    this.#flush();
  };

  readonly #flush = (): void => {
    this.#isSoon = false;
    if (this.#queue.size === 0) return;
    try {
      this.#decide();
    } catch (error) {
      this.#watch.observer = null;
      this.#failed(error);
    }
    this.#copies.clear();
    this.#queue.clear();
  };

  /** Everything that waits, shadow by shadow, so that each is measured with few looks at the clock. */
  #decide(): void {
    const clock = this.#clock;
    const shadows = this.#shadows;
    for (const shadow of shadows) shadow.prepare();
    let fromUs = clock.usedUs();
    // What the shadows used does not earn them more.
    const earnedUs = (fromUs - this.#usedUs) * (clock.isBusy() ? BUSY_SHARE : MOST_SHARE);
    // The first of a batch finds nothing in the processor's caches: they take turns.
    this.#first = (this.#first + 1) % shadows.length;
    for (let i = 0; i < shadows.length; i++) {
      const place = (this.#first + i) % shadows.length;
      const shadow = shadows[place]!;
      shadow.share.earn(earnedUs);
      this.#run(shadow, place, shadow.share.isLeft);
      const untilUs = clock.usedUs();
      shadow.share.use((untilUs - fromUs) * (1 + COPYING));
      fromUs = untilUs;
    }
    this.#copies.note(this.#watch);
    this.#usedUs = fromUs;
    this.#isCopying = shadows.some(({ share }) => share.isLeft);
  }

  /** Takes everything in its order. @param isDeciding false: the decisions are dropped */
  #run(shadow: Shadow, place: number, isDeciding: boolean): void {
    const queue = this.#queue;
    const seen = this.#seen;
    const { atUs, copy, kind, request, size } = queue;
    for (let i = 0; i < size; i++) {
      if (kind[i] === FIRST_TOKEN) shadow.firstToken(request[i]!, atUs[i]!);
      else if (kind[i] === ENDED) shadow.ended(request[i]!, atUs[i]!);
      else if (isDeciding && copy[i] !== NO_COPY) {
        seen.open(copy[i]!);
        shadow.decide(seen, place);
      } else shadow.follow(queue, i);
    }
  }
}
