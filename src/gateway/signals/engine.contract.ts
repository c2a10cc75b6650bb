import { describe, expect, it } from 'vitest';
import { readSamples } from '../../protocol/prometheus-text.js';
import { type Engine, type EngineReport, missingSignals } from './engine.js';

/** What an engine says when all is well, with no value 0. */
export interface EngineSample {
  metrics: string;
  /** The document beside the metrics, where there is one. */
  extra?: unknown;
}

export function reportOf(engine: Engine, { metrics, extra }: EngineSample): EngineReport {
  const report = engine.read(readSamples(metrics));
  if (extra !== undefined) engine.extra!.read(extra, report);
  return report;
}

/** What every engine's reader promises. */
export function engineContract(engine: Engine, sample: EngineSample): void {
  describe(`${engine.name} as every engine`, () => {
    const whole = reportOf(engine, sample);

    it('gives what it says it gives', () => {
      expect(missingSignals(engine, whole)).toEqual([]);
      for (const signal of engine.gives) expect(whole[signal], signal).toBeGreaterThan(0);
      if (engine.gives.includes('kvUsed')) expect(whole.kvUsed).toBeLessThanOrEqual(1);
    });

    it.each(['', 'nonsense', '# HELP x y\n# TYPE x gauge\n', '{} {} {}\n\n"', 'a{b="c"} NaN\n'])(
      'says nothing when it is told %j',
      (metrics) => {
        const report = reportOf(engine, { metrics });
        expect(Object.values(report).every(Number.isNaN)).toBe(true);
        expect(missingSignals(engine, report)).toEqual(engine.gives);
      },
    );

    it('never takes what is absent for 0: without a line, a signal is what it was or missing', () => {
      const lines = sample.metrics.split('\n');
      for (const [i] of lines.entries()) {
        const rest = { ...sample, metrics: lines.filter((_, other) => other !== i).join('\n') };
        for (const [signal, value] of Object.entries(reportOf(engine, rest))) {
          if (Number.isNaN(value)) continue;
          expect(value, `${signal} without ${lines[i]}`).toBe(whole[signal as keyof EngineReport]);
        }
      }
    });

    it('takes the document beside the metrics as it comes', () => {
      for (const extra of [null, 1, 'x', {}, [], [1, 'x', {}]]) {
        expect(() => engine.extra?.read(extra, { ...whole })).not.toThrow();
      }
    });
  });
}
