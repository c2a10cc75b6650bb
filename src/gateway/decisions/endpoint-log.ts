import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import type { DecidingFleet, DecisionInput } from './deciding-fleet.js';
import type { DecisionLog } from './decision-log.js';
import type { ShadowDecision } from './shadow-decision.js';

/** Writes an endpoint's part of the decision log: every call that changes its fleet's state, and every decision. */
export class EndpointLog {
  readonly #endpoint: string;
  #log: DecisionLog | null;

  /** @param log null: nothing is written */
  constructor(endpoint: string, log: DecisionLog | null) {
    this.#endpoint = endpoint;
    this.#log = log;
  }

  /** Nothing more is written. */
  end(): void {
    this.#log = null;
  }

  policy({ config, policyHash: hash, signals }: DecidingFleet, seed: number, isNew: boolean): void {
    const { staleMs } = signals;
    this.#log?.write({ type: 'policy', endpoint: this.#endpoint, isNew, hash, config, seed, staleMs });
  }

  stale(staleMs: number): void {
    this.#log?.write({ type: 'stale', endpoint: this.#endpoint, staleMs });
  }

  replicas(ids: readonly string[]): void {
    this.#log?.write({ type: 'replicas', endpoint: this.#endpoint, ids });
  }

  signals(id: string, signals: ReplicaSignals): void {
    this.#log?.write({ type: 'signals', endpoint: this.#endpoint, id, signals });
  }

  /** After the decision. */
  request(request: number, chosen: number, input: DecisionInput, fleet: DecidingFleet): void {
    this.#log?.write({
      type: 'request',
      endpoint: this.#endpoint,
      policy: fleet.policyHash,
      request,
      id: input.id,
      replica: chosen < 0 ? null : fleet.view.ids[chosen]!,
      nowUs: input.nowUs,
      inputTokens: input.inputTokens,
      session: input.session,
      sloClass: input.sloClass,
      sloTtftUs: input.sloTtftUs,
      sloTpotUs: input.sloTpotUs,
      tenant: input.tenant,
      streams: input.streams,
      removed: input.removed,
      body: input.body,
      blocks: Array.from(input.blocks.subarray(0, input.blockCount)),
    });
  }

  /** What shadows chose about a request that is logged already. */
  shadows(request: number, id: string, shadows: readonly ShadowDecision[]): void {
    this.#log?.write({ type: 'shadows', endpoint: this.#endpoint, request, id, shadows });
  }

  profile(id: string, profile: LatencyProfile | null): void {
    this.#log?.write({ type: 'profile', endpoint: this.#endpoint, id, profile });
  }

  /** @param atUs NaN when it says nothing */
  firstToken(request: number, atUs: number): void {
    this.#log?.write({ type: 'first', endpoint: this.#endpoint, request, atUs: Number.isNaN(atUs) ? null : atUs });
  }

  done(request: number, atUs: number, outputTokens: number): void {
    this.#log?.write({ type: 'done', endpoint: this.#endpoint, request, atUs, outputTokens });
  }
}
