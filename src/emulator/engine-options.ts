import type { LatencyModel } from '../replica/latency/contract.js';
import type { ReplicaModelConfig } from '../replica/replica-model-config.js';
import { type EngineClock, WallClock } from './clock.js';
import { type Faults, NO_FAULTS } from './faults.js';

/** The options of an engine. Everything but the replica has a default. */
export interface EngineOptions {
  /** The replica it emulates and how long its steps take. */
  config: ReplicaModelConfig;
  latency: LatencyModel;
  /** The model name of requests; defaults to the model's own name. */
  modelName?: string;
  /** Loopback by default. */
  host?: string;
  /** 0: any that is free. */
  port?: number;
  /** How many times as fast as real time the model's time passes; ignored with a given clock. */
  speed?: number;
  /** Seeds responses and faults. */
  seed?: number;
  /** Mean length of responses that end by themselves. */
  meanOutputTokens?: number;
  maxBodyBytes?: number;
  /** Requests that may wait; more are refused. 0: no limit. */
  maxQueued?: number;
  /** The start-up time, in model time. */
  startupUs?: number;
  faults?: Partial<Faults>;
  clock?: EngineClock;
  /** Called for every sequence that arrives, with its time and lengths. */
  arrived?: (atUs: number, inputTokens: number, outputTokens: number) => void;
}

export type ResolvedOptions = Required<Omit<EngineOptions, 'speed' | 'faults'>> & { faults: Faults };

export function resolveOptions(given: EngineOptions): ResolvedOptions {
  const { speed = 1, faults, ...rest } = given;
  return {
    modelName: given.config.model,
    host: '127.0.0.1',
    port: 0,
    seed: 42,
    meanOutputTokens: 200,
    maxBodyBytes: 32 * 1024 * 1024,
    maxQueued: 0,
    startupUs: 0,
    clock: new WallClock(speed),
    arrived: () => {},
    ...rest,
    faults: { ...NO_FAULTS, ...faults },
  };
}
