import { arrivalProcess } from '../../arrivals/registry.js';
import { workloadFolderInvalid } from '../../errors.js';
import type { ArrivalSpec, CohortSpec } from '../../spec/workload-spec.js';
import type { Habit, LengthCounts, Pattern } from './servegen-chunk.js';
import { Shares } from './shares.js';

/** Clients of one SLO class at one time, summed up. Each weighs as much as its rate. */
export class CohortSum {
  readonly #sloClass: string;
  readonly #input = new Shares();
  readonly #output = new Shares();
  readonly #reasonRatio = new Shares();
  readonly #patterns = new Map<Pattern, { rate: number; variation: number }>();
  #dataset = '';
  #population = 0;
  #rate = 0;

  constructor(sloClass: string) {
    this.#sloClass = sloClass;
  }

  /** @param days its lengths, each day's as likely as another's */
  add(habit: Habit, days: readonly LengthCounts[], dataset: string): void {
    this.#population++;
    this.#rate += habit.rate;
    this.#dataset ||= dataset;
    for (const [pattern, { rate, variation }] of habit.patterns) {
      const sum = this.#patterns.get(pattern) ?? { rate: 0, variation: 0 };
      this.#patterns.set(pattern, { rate: sum.rate + rate, variation: sum.variation + variation });
    }
    const weight = habit.rate / days.length;
    for (const day of days) {
      this.#input.add(day.input, weight);
      this.#output.add(day.output, weight);
      if (day.reasonRatio !== null) this.#reasonRatio.add(day.reasonRatio, weight);
    }
  }

  /** The cohort, active in one window; null when it has no client. `time`: of the day, in seconds. */
  spec(period: string, time: number, startUs: number, durationUs: number): CohortSpec | null {
    if (this.#population === 0) return null;
    if (this.#input.isEmpty || this.#output.isEmpty) {
      const hint = 'give input_tokens and output_tokens for that time or before';
      throw workloadFolderInvalid(this.#dataset, `no lengths are known for ${time} s after midnight`, hint);
    }
    const reasoning = {
      reason_ratio_distribution: { type: 'empirical', params: this.#reasonRatio.percent() },
    } as const;
    return {
      id: `${period}-${this.#sloClass}`,
      population: this.#population,
      slo_class: this.#sloClass,
      arrival: this.#arrival(),
      input_distribution: { type: 'lognormal', params: this.#input.lognormal() },
      output_distribution: { type: 'lognormal', params: this.#output.lognormal() },
      streaming: true,
      ...(this.#reasonRatio.isEmpty ? {} : { reasoning }),
      spike: { start_time_us: startUs, duration_us: durationUs, trace_rate: this.#rate },
    };
  }

  /** The pattern by which most requests come, varying as its clients do on average. */
  #arrival(): ArrivalSpec {
    const [process, sum] = [...this.#patterns].sort(([, a], [, b]) => b.rate - a.rate)[0]!;
    const limits = arrivalProcess(process).cv;
    if (limits === null || sum.variation === 0) return { process: 'poisson' };
    return { process, cv: Math.min(limits.max, Math.max(limits.min, sum.variation / sum.rate)) };
  }
}
