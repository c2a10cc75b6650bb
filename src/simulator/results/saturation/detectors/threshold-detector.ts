import type { LoadLevel } from '../../../result-document.js';
import type { DetectorFinding, LoadDetector } from './load-detector.js';

/** The mean time of whole requests against a limit. It knows no load, only what is too long. */
export class ThresholdDetector implements LoadDetector {
  readonly #limitMs: number;
  #sumMs = 0;
  #completions = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  arrived(): void {}

  completed(_atUs: number, e2eMs: number): void {
    this.#sumMs += e2eMs;
    this.#completions++;
  }

  level(): LoadLevel {
    return this.#meanMs < this.#limitMs ? 'stable' : 'overloaded';
  }

  finding(): DetectorFinding {
    const level = this.level();
    return {
      level,
      why: level === 'stable' ? '' : `mean E2E ${seconds(this.#meanMs)}, the limit is ${seconds(this.#limitMs)}`,
      signals: { mean_e2e_ms: this.#meanMs, threshold_ms: this.#limitMs },
    };
  }

  get #meanMs(): number {
    return this.#completions === 0 ? 0 : this.#sumMs / this.#completions;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
