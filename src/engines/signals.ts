import type { Samples } from '../protocol/prometheus/read-samples.js';

/** The load of a replica according to its metrics. NaN for a value that the engine does not report, never 0. */
export interface EngineReport {
  running: number;
  waiting: number;
  /** 0..1. */
  kvUsed: number;
  freeBlocks: number;
  /** Prefix cache hits per prompt token since the start; NaN before the first prompt. */
  cacheHitRate: number;
}

/** How the gateway reads an engine's metrics. */
export interface EngineSignals {
  /** Signals that a healthy replica always reports. A missing one has been renamed or disabled, and raises an alarm. */
  readonly gives: readonly (keyof EngineReport)[];
  read(samples: Samples): EngineReport;
  /** A JSON document beside the metrics, for signals that they lack. */
  readonly extra?: { readonly path: string; read(document: unknown, report: EngineReport): void };
}

/** The value of the first metric that exists; NaN when none does. For metrics that were renamed between versions. */
export function firstOf(read: (name: string) => number, ...names: readonly string[]): number {
  for (const name of names) {
    const value = read(name);
    if (!Number.isNaN(value)) return value;
  }
  return Number.NaN;
}

/** The signals an engine should report and does not. */
export function missingSignals({ gives }: EngineSignals, report: EngineReport): string[] {
  return gives.filter((signal) => Number.isNaN(report[signal]));
}
