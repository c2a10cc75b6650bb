import type { LoadLevel } from '../../../result-document.js';

/** What a detector says after the events so far. */
export interface DetectorFinding {
  level: LoadLevel;
  /** The evidence in words; empty where there is nothing to say. */
  why: string;
  signals: Record<string, number>;
}

/** Judges a load from arrivals and completions in the order of their times. Constant work for each event. */
export interface LoadDetector {
  arrived(atUs: number): void;
  completed(atUs: number, e2eMs: number): void;
  level(): LoadLevel;
  finding(): DetectorFinding;
}
