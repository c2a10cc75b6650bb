import type { Samples } from '../../protocol/prometheus-text.js';
import type { ReplicaSignals } from './replica-signals.js';

/** What an engine's metrics say: one value per signal, NaN where it says nothing. */
export type EngineReport = Omit<ReplicaSignals, 'atUs' | 'missing'>;

/** A kind of inference engine: one file, one line in the registry. */
export interface Engine {
  /** As `--engine` and configurations name it. */
  name: string;
  summary: string;
  /** The signals it gives when all is well. One that is absent has been renamed or switched off: an alarm. */
  gives: readonly (keyof EngineReport)[];
  read(samples: Samples): EngineReport;
  /** It tells its load beside every response for which it is asked to: see `load-header.ts`. */
  tellsLoad?: true;
  /** A JSON document beside the metrics, for what they do not say. */
  extra?: { path: string; read(document: unknown, report: EngineReport): void };
}

/** The value under the first of several names a metric has had that is there; NaN when none is. */
export function firstOf(read: (name: string) => number, ...names: readonly string[]): number {
  for (const name of names) {
    const value = read(name);
    if (!Number.isNaN(value)) return value;
  }
  return Number.NaN;
}

/** Which of the signals an engine should give are not there. */
export function missingSignals(engine: Engine, report: EngineReport): string[] {
  return engine.gives.filter((signal) => Number.isNaN(report[signal]));
}
