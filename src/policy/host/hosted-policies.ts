import type { RandomStream } from '../../kernel/random-stream.js';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import type { AdmissionGate, AdmissionPolicy, RoutingPicker, RoutingPolicy } from '../contract.js';
import { missingSignal } from '../errors.js';
import type { Signal } from '../fleet-view.js';
import { Repicker } from '../flip/repicker.js';
import { policyOptions } from '../policy-options.js';
import { admissionPolicy, routingPolicy } from '../registry.js';
import type { PolicySettings } from './policy-settings.js';
import { policyStream } from './policy-streams.js';
import type { World } from './worlds.js';

/** The policies that settings name, found and checked, with all their options. */
export class HostedPolicies {
  readonly settings: PolicySettings;
  readonly routing: RoutingPolicy;
  readonly routingOptions: Readonly<Record<string, unknown>>;
  readonly admission: AdmissionPolicy;
  readonly admissionOptions: Readonly<Record<string, unknown>>;
  /** What routing reads, and what both read together. */
  readonly routingReads: readonly Signal[];
  readonly reads: ReadonlySet<Signal>;
  /** What has to be filled in before a pick, besides blocks. A world without text gives `contentKey` for `body`. */
  readonly needsBody: boolean;
  readonly needsCaches: boolean;
  readonly needsContentKey: boolean;
  readonly needsPredictions: boolean;
  /** Whether admission depends on the prompt's length or on the fleet. */
  readonly admissionNeedsTokens: boolean;
  readonly admissionNeedsFleet: boolean;
  /** Tokens per block of the router's index. */
  readonly blockSize: number;
  /** Equal for settings with the same routing, and for settings with the same admission. */
  readonly routingKey: string;
  readonly admissionKey: string;
  #repicker: Repicker | null = null;

  constructor(settings: PolicySettings, world: World) {
    const { admission, routing } = settings;
    this.settings = settings;
    this.routing = routingPolicy(routing.policy, 'routing.policy');
    const defaults = 'tie_break' in this.routing.options ? { tie_break: world.tieBreak } : {};
    this.routingOptions = checked(this.routing, { ...defaults, ...routing.options }, 'routing.options');
    this.admission = admissionPolicy(admission.policy, 'admission.policy');
    this.admissionOptions = checked(this.admission, admission.options, 'admission.policy');
    this.routingReads = this.routing.reads(this.routingOptions);
    this.reads = new Set([...this.routingReads, ...this.admission.reads(this.admissionOptions)]);
    for (const signal of this.reads) {
      // A world that has no field for a signal refuses it with a message of its own.
      if (signal === 'truth' && world.lacks.includes(signal)) {
        throw missingSignal(routing.policy, 'the true times of requests', 'routing.options');
      }
    }
    this.needsBody = this.reads.has('body');
    this.needsCaches = this.reads.has('replicaCache');
    this.needsContentKey = this.needsBody || this.reads.has('contentKey');
    this.needsPredictions = this.reads.has('prediction');
    this.admissionNeedsTokens = this.admission.admitsAll !== true;
    this.admissionNeedsFleet = this.admission.reads(this.admissionOptions).length > 0;
    this.blockSize = this.routing.blockSize?.(this.routingOptions) || settings.blockSize;
    this.routingKey = canonicalJson({
      name: routing.policy,
      options: this.routingOptions,
      blockSize: this.blockSize,
      cacheBlocks: settings.cacheBlocks,
    });
    this.admissionKey = canonicalJson({ name: admission.policy, options: this.admissionOptions });
  }

  createPicker(random: RandomStream, replicas: number): RoutingPicker {
    return this.routing.create(this.routingOptions, { random, replicas });
  }

  /**
   * Repeats picks of these policies, in fleets of at most this many replicas. It is kept: what a picker builds from the replicas' ids is
   * expensive in large fleets.
   */
  repicker(replicas: number): Repicker {
    if (this.#repicker !== null && this.#repicker.replicas >= replicas) return this.#repicker;
    const random = policyStream(0, 'router');
    this.#repicker = new Repicker(this.createPicker(random, replicas), random, replicas);
    return this.#repicker;
  }

  createGate(seed: number, replicas: number): AdmissionGate {
    return this.admission.create(this.admissionOptions, { random: policyStream(seed, 'admission'), replicas });
  }
}

function checked(policy: RoutingPolicy | AdmissionPolicy, given: unknown, place: string): Record<string, unknown> {
  return policyOptions(policy, given, place) as Record<string, unknown>;
}
