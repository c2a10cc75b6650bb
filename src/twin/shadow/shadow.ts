import type { PolicyConfig } from '../../gateway/config/gateway-config.js';
import { MOST_REPLICAS } from '../../gateway/config/most-replicas.js';
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
import { ProcessorShare } from './processor-share.js';
import { RealPlacements } from './real-placements.js';
import type { SeenQueue } from './seen-queue.js';

/** The policy that a shadow is compared with. */
export interface Serving {
  readonly policy: PolicyConfig;
  /** The same for policies that choose alike. */
  readonly key: string;
  /** Tokens per block of the prompts it looks at. */
  readonly blockSize: number;
}

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
  /** Decisions that it did not make. */
  dropped = 0;
  readonly #serving: Serving;
  readonly #policies: HostedPolicies;
  readonly #sinceUs: number;
  readonly #newReadings: () => Readings;
  /** Null until there is a request: they have room for every replica there may be. */
  #readings: Readings | null = null;
  readonly #realCounts = new OutcomeCounts();
  readonly #ownCounts = new OutcomeCounts();
  /** Sums over about the last thousand decisions: its own books begin empty, which does not count for long. */
  #inputTokens = 0;
  #realHitTokens = 0;
  #ownHitTokens = 0;
  /** Of decisions that differ on the real placements. */
  readonly #ttft = { count: 0, gainedUs: 0, lostUs: 0 };
  /** Of all decisions with a prediction for both. */
  readonly #predicted = { count: 0, realUs: 0, ownUs: 0 };

  /** Throws an InputError when the policy is not valid. @param seed that of the policy that serves: draws are the same */
  constructor(choice: ShadowChoice, source: ShadowFigures['source'], serving: Serving, seed: number, nowUs: number) {
    const { blockSize, policy } = serving;
    const config = { ...policy, name: choice.policy, options: choice.options, blockSize };
    const settings = { ...hostSettings(config), ...OPEN_ADMISSION };
    const policies = new HostedPolicies(settings, LIVE);
    this.choice = choice;
    this.source = source;
    this.#policies = policies;
    this.#serving = serving;
    this.#sinceUs = nowUs;
    this.#newReadings = () => ({
      real: new RealPlacements(policies.createPicker(policyStream(seed, 'router'), MOST_REPLICAS)),
      own: new OwnPlacements(settings, seed, MOST_REPLICAS),
    });
  }

  /** Whether it is this shadow: of the same policy, compared with the same. */
  is(choice: ShadowChoice, source: ShadowFigures['source'], { key }: Serving): boolean {
    if (source !== this.source || key !== this.#serving.key) return false;
    return canonicalJson(choice) === canonicalJson(this.choice);
  }

  /** Before the first decision. */
  prepare(): void {
    this.#readings ??= this.#newReadings();
  }

  /** @param place of the shadow among those of the endpoint */
  decide(seen: ObservedDecision, place: number): void {
    const { candidates, chosen: served, features, view } = seen;
    const readings = this.#readings!;
    seen.complete(this.#policies);
    seen.predict(served);
    const real = readings.real.decide(seen);
    const own = readings.own.decide(seen);
    if (real >= 0) seen.predict(real);
    const { outcome } = readings.real;
    this.#realCounts.add(features.sloClass, outcome);
    this.#ownCounts.add(features.sloClass, candidates === 1 ? 'forced' : own === served ? 'same' : 'different');
    this.#inputTokens = KEPT * this.#inputTokens + features.inputTokens;
    this.#realHitTokens = KEPT * this.#realHitTokens + hitTokens(features, served);
    this.#ownHitTokens = KEPT * this.#ownHitTokens + readings.own.hitTokens;
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

  /** Drops a decision. Both readings learn where the request is. */
  follow(queue: SeenQueue, i: number): void {
    this.dropped++;
    this.#readings!.real.follow(queue, i);
    this.#readings!.own.follow(queue, i);
  }

  firstToken(request: number, nowUs: number): void {
    this.#readings!.own.firstToken(request, nowUs);
  }

  ended(request: number, nowUs: number): void {
    this.#readings!.own.ended(request, nowUs);
  }

  figures(): ShadowFigures {
    const { name, options, policy } = this.choice;
    const all = this.#inputTokens;
    return {
      ...{ name, policy, options, source: this.source },
      servingPolicy: this.#serving.policy.name,
      sinceUs: this.#sinceUs,
      dropped: this.dropped,
      onRealPlacements: this.#realCounts.list(),
      onOwnPlacements: this.#ownCounts.list(),
      knownPrefix: all === 0 ? null : { real: this.#realHitTokens / all, own: this.#ownHitTokens / all },
      ttft: { ...this.#ttft },
      predicted: { ...this.#predicted },
    };
  }

  #addDifference(us: number): void {
    if (!Number.isFinite(us)) return;
    this.#ttft.count++;
    if (us < 0) this.#ttft.gainedUs -= us;
    else this.#ttft.lostUs += us;
  }

  #addPrediction(realUs: number, ownUs: number): void {
    if (!Number.isFinite(realUs + ownUs)) return;
    this.#predicted.count++;
    this.#predicted.realUs += realUs;
    this.#predicted.ownUs += ownUs;
  }
}
