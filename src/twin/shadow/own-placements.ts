import type { ReplicaProfiles } from '../../gateway/prediction/replica-profiles.js';
import { EventHeap } from '../../kernel/events/event-heap.js';
import { PolicyHost } from '../../policy/host/policy-host.js';
import type { PolicySettings } from '../../policy/host/policy-settings.js';
import { LIVE } from '../../policy/host/worlds.js';
import { copyScalars, hitTokens } from '../../policy/request-features.js';
import { imagineReports } from './imagine-reports.js';
import type { ObservedDecision } from './observed-decision.js';

const REMOVED = 'not a candidate';

/** A request in the imagined fleet. */
interface ImaginedRequest {
  /** Its number in the books of this fleet. */
  readonly number: number;
  /** When its first token is predicted; NaN where its times are not predicted. */
  readonly firstUs: number;
  /** Predicted time per token here, relative to that of the replica that really serves it. */
  readonly slower: number;
  /** When its first token really came; NaN before. */
  realFirstUs: number;
}

/**
 * The second reading of a shadow: a fleet whose requests were all placed by its own choices. Only its books exist: in flight,
 * token sums, prompt blocks. What replicas would report is estimated from them. Where the speed of a replica is known, a
 * request has its first token when that is predicted, and the time from there to its end is scaled by the predicted times per
 * token; otherwise it stays as long as it really took. It never ends before it has really ended: its length is not known earlier.
 */
export class OwnPlacements {
  /** Prompt tokens of the last request that its choice was sent before, in this fleet. */
  hitTokens = 0;
  /** Predicted TTFT of the last request in this fleet; NaN where it is not known. */
  ttftUs = Number.NaN;
  readonly #host: PolicyHost;
  readonly #removals: (string | null)[] = [];
  /** The fleet and the profiles of the last decision. */
  #ids: readonly string[] | null = null;
  #profiles: ReplicaProfiles | null = null;
  #profileChanges = -1;
  /** By their real numbers, until they have really ended. */
  readonly #requests = new Map<number, ImaginedRequest>();
  /** Predicted first tokens and ends: the number twice, plus 1 for an end. */
  readonly #due = new EventHeap();
  /** By number. */
  readonly #firstUs: number[] = [];
  readonly #freeNumbers: number[] = [];
  #numbers = 0;

  constructor(settings: PolicySettings, seed: number, mostReplicas: number) {
    const predictors = (id: string) => this.#profiles?.predictorOf(id) ?? null;
    this.#host = new PolicyHost(settings, { world: LIVE, seed, mostReplicas, allBooks: true, predictors });
  }

  /** Requests in flight in the imagined fleet. */
  get inFlight(): number {
    return this.#numbers - this.#freeNumbers.length;
  }

  /** The slot that the policy chooses in its own fleet, where the request is placed; -1 where it refuses the request. */
  decide({ chosen: served, features: given, profiles, request, view: real }: ObservedDecision): number {
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
    imagineReports(real, host.view);
    copyScalars(given, features);
    features.body = given.body;
    features.blocks = given.blocks;
    const chosen = host.pick();
    features.body = null;
    this.hitTokens = chosen < 0 ? 0 : hitTokens(features, chosen);
    this.ttftUs = Number.NaN;
    if (chosen >= 0) this.#place(request, chosen, given.nowUs, given.predictions.itlUs[served]!);
    return chosen;
  }

  firstToken(request: number, nowUs: number): void {
    this.#advance(nowUs);
    const found = this.#requests.get(request);
    if (found === undefined) return;
    found.realFirstUs = nowUs;
    if (Number.isNaN(found.firstUs)) this.#host.firstToken(found.number, nowUs);
  }

  ended(request: number, nowUs: number): void {
    this.#advance(nowUs);
    const found = this.#requests.get(request);
    if (found === undefined) return;
    this.#requests.delete(request);
    const endUs = found.firstUs + (nowUs - found.realFirstUs) * found.slower;
    if (endUs > nowUs) this.#due.push(endUs, 2 * found.number + 1);
    else this.#finish(found.number, nowUs);
  }

  #place(request: number, chosen: number, nowUs: number, realItlUs: number): void {
    const { prediction } = this.#host;
    const number = this.#freeNumbers.pop() ?? this.#numbers++;
    this.#host.placed(number, chosen);
    this.ttftUs = prediction.ttftUsOf(number);
    const firstUs = nowUs + this.ttftUs;
    this.#firstUs[number] = firstUs;
    const slower = prediction.itlUsOf(number) / realItlUs;
    const former = this.#requests.get(request);
    if (former !== undefined) this.#finish(former.number, nowUs);
    this.#requests.set(request, {
      ...{ number, firstUs, slower: Number.isFinite(slower) ? slower : 1, realFirstUs: Number.NaN },
    });
    if (!Number.isNaN(firstUs)) this.#due.push(firstUs, 2 * number);
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
    this.#host.setReplicas(ids);
    this.#removals.length = ids.length;
    this.#ids = ids;
  }
}
