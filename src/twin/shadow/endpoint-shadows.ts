import type { DecidingFleet, DecisionInput } from '../../gateway/decisions/deciding-fleet.js';
import type { DecisionObserver, DecisionWatch } from '../../gateway/decisions/decision-observer.js';
import type { ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import type { RequestFacts } from '../../gateway/request/request-facts.js';
import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { ObservedDecision } from './observed-decision.js';
import { BUSY_SHARE, MOST_SHARE } from './processor-share.js';
import type { Shadow } from './shadow.js';

/** Decisions that wait for the shadows; further ones are dropped. */
const MOST_WAITING = 128;
/** Prompt blocks of all of them together. */
const MOST_BLOCKS = 1_000_000;

/** What runs shadows off the response path. */
export interface ShadowClock {
  /** Calls back once, after what is under way. */
  soon(run: () => void): void;
  /** Processor time in microseconds, from any beginning. */
  spentUs(): number;
  /** Whether the gateway has hardly time for its requests. */
  isBusy(): boolean;
}

/**
 * The shadows of an endpoint. On the response path a decision is only copied; the shadows decide about it once the request is on
 * its way. Each may use a tenth of a processor, and less while the gateway is busy: what does not fit is dropped and counted.
 */
export class EndpointShadows implements DecisionObserver {
  #shadows: readonly Shadow[] = [];
  readonly #watch: DecisionWatch;
  readonly #clock: ShadowClock;
  readonly #failed: (error: unknown) => void;
  #needsBody = false;
  #needsContentKey = false;
  /** The first `#size` wait; the others are there to be used again. */
  readonly #waiting: ObservedDecision[] = [];
  #size = 0;
  #blocks = 0;
  /** By request: whether its decision was copied. */
  #isFollowed = new Uint8Array(0);
  /** First tokens and ends of requests, in order: the request twice, plus 1 for an end. */
  readonly #events: number[] = [];
  /** When each was, and how many decisions waited before it. */
  readonly #eventTimes: number[] = [];
  readonly #eventPlaces: number[] = [];
  #isScheduled = false;

  /** @param failed called with an error of a policy, after which no shadow of the endpoint decides until they are set again */
  constructor(watch: DecisionWatch, clock: ShadowClock, failed: (error: unknown) => void) {
    this.#watch = watch;
    this.#clock = clock;
    this.#failed = failed;
  }

  get shadows(): readonly Shadow[] {
    return this.#shadows;
  }

  /** These follow the endpoint from now on; those that were there before go on. */
  set(shadows: readonly Shadow[]): void {
    this.#flush();
    this.#shadows = shadows;
    this.#needsBody = shadows.some(({ needsBody }) => needsBody);
    this.#needsContentKey = shadows.some(({ needsContentKey }) => needsContentKey);
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
    const blocks = this.#blocks + input.blockCount;
    const hasRoom = this.#size < MOST_WAITING && (blocks <= MOST_BLOCKS || this.#size === 0);
    this.#isFollowed[request] = hasRoom ? 1 : 0;
    if (!hasRoom) {
      for (const shadow of this.#shadows) shadow.dropped++;
      return;
    }
    let waiting = this.#waiting[this.#size];
    if (waiting === undefined) {
      waiting = new ObservedDecision();
      this.#waiting.push(waiting);
    }
    waiting.copy(decision, request, chosen, input, facts, fleet);
    this.#size++;
    this.#blocks = blocks;
    this.#schedule();
  }

  firstToken(request: number, nowUs: number): void {
    if (this.#isFollowed[request] === 1) this.#event(2 * request, nowUs);
  }

  ended(request: number, nowUs: number): void {
    if (this.#isFollowed[request] !== 1) return;
    this.#isFollowed[request] = 0;
    this.#event(2 * request + 1, nowUs);
  }

  #event(code: number, nowUs: number): void {
    this.#events.push(code);
    this.#eventTimes.push(nowUs);
    this.#eventPlaces.push(this.#size);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.soon(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    try {
      this.#decide();
    } catch (error) {
      this.#watch.observer = null;
      this.#failed(error);
    }
    for (let i = 0; i < this.#size; i++) this.#waiting[i]!.release();
    this.#size = 0;
    this.#blocks = 0;
    this.#events.length = 0;
    this.#eventTimes.length = 0;
    this.#eventPlaces.length = 0;
  };

  /** Everything that waits, shadow by shadow, so that each is measured with few looks at the clock. */
  #decide(): void {
    const waiting = this.#waiting;
    const size = this.#size;
    for (let i = 0; i < size; i++) waiting[i]!.complete(this.#needsContentKey, this.#needsBody);
    const found = Array.from({ length: size }, (): ShadowDecision[] => []);
    const share = this.#clock.isBusy() ? BUSY_SHARE : MOST_SHARE;
    let fromUs = this.#clock.spentUs();
    for (const shadow of this.#shadows) {
      this.#run(shadow, shadow.share.has(fromUs, share) ? found : null);
      const untilUs = this.#clock.spentUs();
      shadow.share.use(untilUs - fromUs);
      fromUs = untilUs;
    }
    for (let i = 0; i < size; i++) {
      const { decision, id, request } = waiting[i]!;
      if (found[i]!.length > 0) this.#watch.note(decision, request, id, found[i]!);
    }
  }

  /** Takes decisions and events in their order. @param found null: the decisions are dropped */
  #run(shadow: Shadow, found: ShadowDecision[][] | null): void {
    const events = this.#events;
    let event = 0;
    for (let i = 0; i <= this.#size; i++) {
      for (; event < events.length && this.#eventPlaces[event]! <= i; event++) {
        const code = events[event]!;
        const nowUs = this.#eventTimes[event]!;
        if ((code & 1) === 0) shadow.firstToken(code >> 1, nowUs);
        else shadow.ended(code >> 1, nowUs);
      }
      if (i === this.#size) return;
      if (found === null) shadow.dropped++;
      else found[i]!.push(shadow.decide(this.#waiting[i]!));
    }
  }
}
