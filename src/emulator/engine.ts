import { PromptBytes } from '../protocol/prompt-bytes.js';
import type { LatencyModel } from '../replica/latency/contract.js';
import { EmulatedReplica } from './emulated-replica.js';
import { EngineMetrics } from './engine-metrics.js';
import { type EngineOptions, type ResolvedOptions, resolveOptions } from './engine-options.js';
import { engineQueueFull, promptTooLong } from './errors.js';
import { FaultDice, type Faults } from './faults.js';

/** The load of an engine. */
export interface EngineStats {
  /** Requests that have no complete response yet, hung ones included. */
  inFlight: number;
  running: number;
  /** In the queue; requests that are not queued yet are in flight only. */
  waiting: number;
  usedBlocks: number;
  totalBlocks: number;
  promptTokens: number;
  cachedPromptTokens: number;
  tokensOut: number;
  preemptions: number;
}

/** An emulated engine without its HTTP surface: the replica, its metrics and its faults. */
export class Engine {
  readonly options: ResolvedOptions;
  readonly live: EmulatedReplica;
  readonly metrics: EngineMetrics;
  readonly dice: FaultDice;
  /** Scratch space to render a prompt, used again by the next. */
  readonly scratch = new PromptBytes();
  inFlight = 0;
  isClosing = false;
  readonly #readyUs: number;
  #held: (() => void)[] = [];

  constructor(given: EngineOptions) {
    this.options = resolveOptions(given);
    const { config, latency, clock, faults, seed, modelName, startupUs } = this.options;
    this.dice = new FaultDice(faults, seed);
    this.live = new EmulatedReplica(config, this.#slowed(latency), clock);
    this.metrics = new EngineMetrics(config, modelName, this.live);
    this.#readyUs = this.live.nowUs() + startupUs;
    this.setFaults(faults);
  }

  get isReady(): boolean {
    return this.live.nowUs() >= this.#readyUs && !this.isClosing;
  }

  setFaults(faults: Faults): void {
    this.dice.settings = faults;
    if (faults.frozen) {
      this.live.freeze();
      return;
    }
    this.live.thaw();
    const held = this.#held;
    this.#held = [];
    for (const goOn of held) goOn();
  }

  /** Resolves now, or when the engine is not frozen any more. */
  whenThawed(goOn: () => void): void {
    if (this.dice.settings.frozen) this.#held.push(goOn);
    else goOn();
  }

  /** Throws when a prompt leaves no context for a response, or the engine accepts no requests now. */
  admit(inputTokens: number): void {
    const { config, maxQueued } = this.options;
    if (inputTokens >= config.maxModelLen) throw promptTooLong(config.maxModelLen, inputTokens);
    const waiting = this.live.replica.arriving + this.live.replica.queueDepth;
    if (maxQueued > 0 && waiting >= maxQueued) throw engineQueueFull(waiting);
  }

  stats(): EngineStats {
    const { replica } = this.live;
    return {
      inFlight: this.inFlight,
      running: replica.reports.running,
      waiting: replica.queueDepth,
      usedBlocks: replica.reports.usedBlocks,
      totalBlocks: replica.kv.pool.total,
      promptTokens: replica.promptTokens,
      cachedPromptTokens: replica.cachedPromptTokens,
      tokensOut: this.metrics.tokensOut,
      preemptions: replica.preemptions,
    };
  }

  #slowed(latency: LatencyModel): LatencyModel {
    return {
      queueingUs: latency.queueingUs,
      outputTokenUs: latency.outputTokenUs,
      postDecodeUs: latency.postDecodeUs,
      readsContexts: latency.readsContexts === true,
      stepUs: (shape, startUs) =>
        Math.max(1, Math.round(latency.stepUs(shape, startUs) * this.dice.settings.slowFactor)),
    };
  }
}
