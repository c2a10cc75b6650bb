import type { ReplicaProfiles } from '../../gateway/prediction/replica-profiles.js';
import { EventHeap } from '../../kernel/events/event-heap.js';
import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { createFleetView, type FleetView } from '../../policy/fleet-view.js';
import { PolicyHost } from '../../policy/host/policy-host.js';
import type { PolicySettings } from '../../policy/host/policy-settings.js';
import type { OtherPrompts } from '../../policy/host/prediction/hosted-prediction.js';
import { LIVE } from '../../policy/host/worlds.js';
import { copyScalars, hitTokens } from '../../policy/request-features.js';
import { FollowedRequests } from './followed-requests.js';
import { imagineReports } from './imagine-reports.js';
import type { ObservedDecision } from './observed-decision.js';

const REMOVED = 'not a candidate';
/** Columns of the view that count requests. */
const COUNTED = ['inFlight', 'ongoingTokens', 'pendingPrefillTokens', 'ongoingDecodeTokens'] as const;

/**
 * The second reading of a shadow: a fleet whose requests were all placed by its own choices. Only its books exist: in flight,
 * token sums, prompt blocks. What replicas would report is estimated from them. Where the speed of a replica is known, a
 * request has its first token when that is predicted, and the time from there to its end is scaled by the predicted times per
 * token; otherwise it stays as long as it really took. It never ends before it has really ended: its length is not known earlier.
 *
 * Requests about which the policy did not decide are on their real replicas in this fleet too. They cost nothing: they are what the
 * real fleet has besides the requests that are followed. Their prompts are not remembered.
 */
export class OwnPlacements {
  /** Prompt tokens of the last request that its choice was sent before, in this fleet. */
  hitTokens = 0;
  /** Predicted TTFT of the last request in this fleet; NaN where it is not known. */
  ttftUs = Number.NaN;
  readonly #host: PolicyHost;
  readonly #removals: (string | null)[] = [];
  /** The requests of this fleet as they really are. */
  readonly #followed: FollowedRequests;
  /** Part of the view: by slot, the requests that are on their real replicas. */
  readonly #others: Pick<FleetView, (typeof COUNTED)[number]>;
  readonly #otherPrompts: OtherPrompts;
  /** The fleet and the profiles of the last decision. */
  #ids: readonly string[] | null = null;
  #profiles: ReplicaProfiles | null = null;
  #profileChanges = -1;
  /** Predicted first tokens and ends: the number twice, plus 1 for an end. */
  readonly #due = new EventHeap();
  /** By the real number of a request: its number in this fleet plus 1, 0 once it has really ended. */
  #numberOf = new Int32Array(0);

  // By number in this fleet.
  /** When the first token is predicted; NaN where its times are not predicted. */
  #firstUs = new Float64Array(0);
  /** Predicted time per token, relative to that of the replica that really serves it. */
  #slower = new Float64Array(0);
  /** When the first token really came; NaN before. */
  #realFirstUs = new Float64Array(0);
  readonly #freeNumbers: number[] = [];
  #numbers = 0;

  constructor(settings: PolicySettings, seed: number, mostReplicas: number) {
    const predictors = (id: string) => this.#profiles?.predictorOf(id) ?? null;
    this.#host = new PolicyHost(settings, { world: LIVE, seed, mostReplicas, allBooks: true, predictors });
    this.#followed = new FollowedRequests(mostReplicas);
    this.#others = createFleetView(mostReplicas);
    const column = () => new Float64Array(mostReplicas);
    this.#otherPrompts = { prefilling: column(), pendingTokens: column(), elapsedUs: column() };
    this.#host.prediction.otherPrompts = this.#otherPrompts;
  }

  /** Requests in flight in the imagined fleet. */
  get inFlight(): number {
    return this.#numbers - this.#freeNumbers.length;
  }

  /** The slot that the policy chooses in its own fleet, where the request is placed; -1 where it refuses the request. */
  decide(seen: ObservedDecision): number {
    const { chosen: served, features: given, profiles, request, streams, view: real } = seen;
    const host = this.#host;
    const { features } = host;
    this.#advance(given.nowUs);
    this.#profiles = profiles;
    if (this.#ids !== real.ids) this.#setReplicas(real.ids);
    if (profiles !== null && profiles.changes !== this.#profileChanges) {
      this.#profileChanges = profiles.changes;
      host.prediction.refresh();
    }
    const removals = this.#removals;
    for (let slot = 0; slot < real.size; slot++) removals[slot] = real.eligible[slot] === 1 ? null : REMOVED;
    host.restrict(removals);
    this.#addOthers(seen);
    imagineReports(real, host.view);
    copyScalars(given, features);
    features.body = given.body;
    features.blocks = given.blocks;
    const chosen = host.pick();
    features.body = null;
    this.#followed.placed(request, served, given.inputTokens, given.inputTokens - hitTokens(given, served), streams);
    this.hitTokens = chosen < 0 ? 0 : hitTokens(features, chosen);
    this.ttftUs = Number.NaN;
    if (chosen < 0) return chosen;
    seen.predict(chosen);
    const { factor, itlUs } = given.predictions;
    this.#place(request, chosen, given.nowUs, itlUs[served]!, factor[chosen]!);
    return chosen;
  }

  firstToken(request: number, nowUs: number): void {
    this.#followed.firstToken(request);
    const number = this.#ownNumber(request);
    if (number < 0) return;
    this.#advance(nowUs);
    this.#realFirstUs[number] = nowUs;
    if (Number.isNaN(this.#firstUs[number]!)) this.#host.firstToken(number, nowUs);
  }

  ended(request: number, nowUs: number): void {
    this.#followed.ended(request);
    const number = this.#ownNumber(request);
    if (number < 0) return;
    this.#advance(nowUs);
    this.#numberOf[request] = 0;
    const endUs = this.#firstUs[number]! + (nowUs - this.#realFirstUs[number]!) * this.#slower[number]!;
    if (endUs > nowUs) this.#due.push(endUs, 2 * number + 1);
    else this.#finish(number, nowUs);
  }

  /** Puts the requests that are not followed on their real replicas. */
  #addOthers(seen: ObservedDecision): void {
    const { view: real } = seen;
    const { view } = this.#host;
    for (const column of COUNTED) {
      shiftBy(view[column], real[column], this.#followed[column], this.#others[column], real.size);
    }
    if (seen.hasLoads) this.#addPrompts(seen);
  }

  #addPrompts(seen: ObservedDecision): void {
    const { prefilling: count, prefillingTokens: tokens } = this.#followed;
    const { elapsedUs, pendingTokens, prefilling } = this.#otherPrompts;
    for (let slot = 0; slot < seen.view.size; slot++) {
      const load = seen.load(slot);
      const others = Math.max(0, load.prefilling - count[slot]!);
      prefilling[slot] = others;
      pendingTokens[slot] = others === 0 ? 0 : Math.max(0, load.pendingPrefillTokens - tokens[slot]!);
      elapsedUs[slot] = others === 0 ? 0 : load.prefillElapsedUs;
    }
  }

  /** @param factor by which predictions for the replica are corrected: only the real fleet shows what requests take */
  #place(request: number, chosen: number, nowUs: number, realItlUs: number, factor: number): void {
    const { prediction } = this.#host;
    const former = this.#ownNumber(request);
    const number = this.#freeNumbers.pop() ?? this.#numbers++;
    this.#reserve(request, number);
    this.#host.placed(number, chosen);
    this.ttftUs = factor * prediction.plainTtftUsOf(number);
    const firstUs = nowUs + this.ttftUs;
    const slower = prediction.itlUsOf(number) / realItlUs;
    this.#firstUs[number] = firstUs;
    this.#slower[number] = Number.isFinite(slower) ? slower : 1;
    this.#realFirstUs[number] = Number.NaN;
    if (former >= 0) this.#finish(former, nowUs);
    this.#numberOf[request] = number + 1;
    if (!Number.isNaN(firstUs)) this.#due.push(firstUs, 2 * number);
  }

  /** -1 for requests that are not in this fleet. */
  #ownNumber(request: number): number {
    return request < this.#numberOf.length ? this.#numberOf[request]! - 1 : -1;
  }

  #reserve(request: number, number: number): void {
    if (request >= this.#numberOf.length) {
      this.#numberOf = grownArray(this.#numberOf, roomFor(request, this.#numberOf.length));
    }
    if (number < this.#firstUs.length) return;
    const room = roomFor(number, this.#firstUs.length);
    this.#firstUs = grownArray(this.#firstUs, room);
    this.#slower = grownArray(this.#slower, room);
    this.#realFirstUs = grownArray(this.#realFirstUs, room);
  }

  /** Carries out what is due by now. */
  #advance(nowUs: number): void {
    const due = this.#due;
    while (due.nextUs <= nowUs) {
      const atUs = due.nextUs;
      const code = due.pop();
      const number = code >> 1;
      // A request may end without a first token, and another one get its number.
      if ((code & 1) === 0 && this.#firstUs[number] === atUs) this.#host.firstToken(number, atUs);
      if ((code & 1) === 1) this.#finish(number, atUs);
    }
  }

  #finish(number: number, atUs: number): void {
    this.#host.finished(number, atUs);
    this.#freeNumbers.push(number);
  }

  #setReplicas(ids: readonly string[]): void {
    const { view } = this.#host;
    for (const column of COUNTED) {
      for (let slot = 0; slot < view.size; slot++) view[column][slot]! -= this.#others[column][slot]!;
      this.#others[column].fill(0);
    }
    this.#host.setReplicas(ids);
    this.#followed.setReplicas(ids);
    this.#removals.length = ids.length;
    this.#ids = ids;
  }
}

type Column = Int32Array | Float64Array;

/** Adds what the real column has besides the followed part, in place of what was added before. */
function shiftBy(column: Column, real: Column, followed: Column, added: Column, size: number): void {
  for (let slot = 0; slot < size; slot++) {
    const others = Math.max(0, real[slot]! - followed[slot]!);
    column[slot]! += others - added[slot]!;
    added[slot] = others;
  }
}
