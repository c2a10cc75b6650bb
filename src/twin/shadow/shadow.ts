import type { PolicyConfig } from '../../gateway/config/gateway-config.js';
import { hostSettings } from '../../gateway/decisions/deciding-fleet.js';
import type { ShadowFigures } from '../../gateway/telemetry/shadow-figures.js';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import type { ShadowChoice } from '../../policy/bundle/shadow-choice.js';
import { HostedPolicies } from '../../policy/host/hosted-policies.js';
import { OPEN_ADMISSION } from '../../policy/host/policy-settings.js';
import { policyStream } from '../../policy/host/policy-streams.js';
import { LIVE } from '../../policy/host/worlds.js';
import { hitTokens } from '../../policy/request-features.js';
import type { ObservedDecision } from './observed-decision.js';
import { OutcomeCounts } from './outcome-counts.js';
import { OwnPlacements } from './own-placements.js';
import { RealPlacements } from './real-placements.js';
import type { SeenQueue } from './seen-queue.js';
import { ProcessorShare } from './time/processor-share.js';

/** The policy that a shadow is compared with. */
export interface Serving {
  readonly policy: PolicyConfig;
  /** The same for policies that choose alike. */
  readonly key: string;
  /** Tokens per block of the prompts it looks at. */
  readonly blockSize: number;
}

/** Replicas that a shadow has room for at first; then twice as many, up to those that an endpoint may have. */
const LEAST_ROOM = 64;

/** The weight of sums of tokens after a further decision. */
const KEPT = 1 - 1 / 1000;

interface Readings {
  readonly real: RealPlacements;
  readonly own: OwnPlacements;
}

/** One shadow policy of an endpoint: both readings, and what they found. */
export class Shadow {
  readonly choice: ShadowChoice;
  readonly source: ShadowFigures['source'];
  readonly share = new ProcessorShare();
  /** Why it decides no longer, null while it does. */
  stopped: ShadowFigures['stopped'] = null;
  readonly #nowUs: () => number;
  /** Decisions that it did not make, and those of them while the gateway was busy. */
  #dropped = 0;
  #droppedBusy = 0;
  /** Dropped ones that no decision stands for yet. */
  #unseen = 0;
  /** How many requests each of the next decisions stands for. */
  #weight = 1;
  readonly #serving: Serving;
  readonly #policies: HostedPolicies;
  readonly #sinceUs: number;
  readonly #newReadings: (replicas: number) => Readings;
  /** Null until there is a request. */
  #readings: Readings | null = null;
  /** Replicas that the readings have room for. */
  #room = 0;
  readonly #realCounts = new OutcomeCounts();
  readonly #ownCounts = new OutcomeCounts();
  /** Sums over about the last thousand decisions: its own books begin empty, which does not count for long. */
  #inputTokens = 0;
  #realHitTokens = 0;
  #ownHitTokens = 0;
  /** Of decisions that differ on the real placements. */
  readonly #ttft = { count: 0, gainedUs: 0, lostUs: 0, weight: 0, sumUs: 0 };
  /** Of all decisions with a prediction for both, by weight. */
  readonly #predicted = { count: 0, realUs: 0, ownUs: 0 };

  /** Throws an InputError when the policy is not valid. @param seed that of the policy that serves: draws are the same */
  constructor(
    choice: ShadowChoice,
    source: ShadowFigures['source'],
    serving: Serving,
    seed: number,
    nowUs: () => number,
  ) {
    const { blockSize, policy } = serving;
    const config = { ...policy, name: choice.policy, options: choice.options, blockSize };
    const settings = { ...hostSettings(config), ...OPEN_ADMISSION };
    const policies = new HostedPolicies(settings, LIVE);
    this.choice = choice;
    this.source = source;
    this.#policies = policies;
    this.#serving = serving;
    this.#nowUs = nowUs;
    this.#sinceUs = nowUs();
    const random = policyStream(seed, 'router');
    this.#newReadings = (replicas) => ({
      real: new RealPlacements(policies.createPicker(random, replicas)),
      own: new OwnPlacements(settings, seed, replicas),
    });
  }

  /** Whether it is this shadow: of the same policy, compared with the same. */
  is(choice: ShadowChoice, source: ShadowFigures['source'], { key }: Serving): boolean {
    if (source !== this.source || key !== this.#serving.key) return false;
    return canonicalJson(choice) === canonicalJson(this.choice);
  }

  /** Whether it remembers where the requests of a session are. */
  get followsSessions(): boolean {
    return this.#readings?.real.follows ?? true;
  }

  get readsBody(): boolean {
    return this.#policies.needsBody;
  }

  /** Decides no longer: its policy has failed. */
  stop(error: unknown): void {
    this.stopped = { atUs: this.#nowUs(), problem: error instanceof Error ? error.message : String(error) };
    this.#readings = null;
  }

  /** Whether it has decided already. */
  get hasBegun(): boolean {
    return this.#readings !== null;
  }

  /** They have room for the fleet; where it has outgrown them, they begin again, with the draws that follow. */
  #readingsFor(replicas: number): Readings {
    if (this.#readings !== null && replicas <= this.#room) return this.#readings;
    this.#room = LEAST_ROOM;
    while (this.#room < replicas) this.#room *= 2;
    this.#readings = this.#newReadings(this.#room);
    return this.#readings;
  }

  /** Before the decisions about requests that came together. Each stands for as many of those that it drops, and of earlier ones. */
  begin(decisions: number, dropped: number, isBusy: boolean): void {
    this.#dropped += dropped;
    if (isBusy) this.#droppedBusy += dropped;
    this.#unseen += dropped;
    if (decisions === 0) return;
    this.#weight = 1 + this.#unseen / decisions;
    this.#unseen = 0;
  }

  /** @param place of the shadow among those of the endpoint */
  decide(seen: ObservedDecision, place: number): void {
    const { candidates, chosen: served, features, view } = seen;
    const readings = this.#readingsFor(view.size);
    seen.complete(this.#policies);
    seen.predict(served);
    const real = readings.real.decide(seen);
    const own = readings.own.decide(seen);
    if (real >= 0) seen.predict(real);
    const { outcome } = readings.real;
    const weight = this.#weight;
    this.#realCounts.add(features.sloClass, outcome, weight);
    this.#ownCounts.add(features.sloClass, candidates === 1 ? 'forced' : own === served ? 'same' : 'different', weight);
    this.#inputTokens = KEPT * this.#inputTokens + weight * features.inputTokens;
    this.#realHitTokens = KEPT * this.#realHitTokens + weight * hitTokens(features, served);
    this.#ownHitTokens = KEPT * this.#ownHitTokens + weight * readings.own.hitTokens;
    const { ttftUs } = features.predictions;
    this.#addPrediction(ttftUs[served]!, readings.own.ttftUs);
    const differenceUs = ttftUs[real]! - ttftUs[served]!;
    if (outcome === 'different') this.#addDifference(differenceUs);
    const found = seen.found(place);
    found.shadow = this.choice.name;
    found.policy = this.choice.policy;
    found.replica = view.ids[real] ?? null;
    found.outcome = outcome;
    found.ownReplica = view.ids[own] ?? null;
    found.ttftDifferenceMs = Number.isFinite(differenceUs) ? differenceUs / 1000 : null;
  }

  /** Learns where a request of a session is whose decision it drops. */
  follow(queue: SeenQueue, i: number): void {
    this.#readingsFor(queue.ids[i]!.length).real.follow(queue, i);
  }

  firstToken(request: number, nowUs: number): void {
    this.#readings?.own.firstToken(request, nowUs);
  }

  ended(request: number, nowUs: number): void {
    this.#readings?.own.ended(request, nowUs);
  }

  figures(): ShadowFigures {
    const { name, options, policy } = this.choice;
    const all = this.#inputTokens;
    const { count, gainedUs, lostUs, sumUs, weight } = this.#ttft;
    return {
      ...{ name, policy, options, source: this.source },
      servingPolicy: this.#serving.policy.name,
      sinceUs: this.#sinceUs,
      dropped: this.#dropped,
      droppedBusy: this.#droppedBusy,
      stopped: this.stopped,
      onRealPlacements: this.#realCounts.list(),
      onOwnPlacements: this.#ownCounts.list(),
      knownPrefix: all === 0 ? null : { real: this.#realHitTokens / all, own: this.#ownHitTokens / all },
      ttft: { count, gainedUs, lostUs, meanUs: weight === 0 ? null : sumUs / weight },
      predicted: { ...this.#predicted },
    };
  }

  #addDifference(us: number): void {
    if (!Number.isFinite(us)) return;
    const ttft = this.#ttft;
    ttft.count++;
    if (us < 0) ttft.gainedUs -= us;
    else ttft.lostUs += us;
    ttft.weight += this.#weight;
    ttft.sumUs += this.#weight * us;
  }

  #addPrediction(realUs: number, ownUs: number): void {
    if (!Number.isFinite(realUs + ownUs)) return;
    const weight = this.#weight;
    this.#predicted.count += weight;
    this.#predicted.realUs += weight * realUs;
    this.#predicted.ownUs += weight * ownUs;
  }
}
