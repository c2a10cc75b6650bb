import type { EngineSettings, ObservedTrace } from './observed-trace.js';

/** Unknown settings, each with the values to try. */
export type SettingsSearch = {
  [Name in 'maxNumBatchedTokens' | 'maxNumSeqs' | 'engineRules']?: readonly NonNullable<EngineSettings[Name]>[];
} & { maxInFlight?: readonly number[] };

/** Every combination of values, the first of each first. */
export function combinations(search: SettingsSearch): Record<string, string | number>[] {
  let all: Record<string, string | number>[] = [{}];
  for (const [name, values] of Object.entries(search)) {
    if (values.length > 0) all = all.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return all;
}

/** The same trace, as if its engine and client had had these settings. */
export function withSettings(trace: ObservedTrace, settings: Record<string, string | number>): ObservedTrace {
  const { maxInFlight = trace.maxInFlight, ...engine } = settings;
  return { ...trace, maxInFlight: Number(maxInFlight), engine: { ...trace.engine, ...engine } };
}
