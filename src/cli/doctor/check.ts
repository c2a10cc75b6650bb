import { InputError } from '../../kernel/errors.js';

/** Something that was looked at. */
export interface Check {
  /** What kind of check: `config`, `port`, `folder`, `file`, `limit`, `store`, `clock`, `gateway`, `replica`, `discovery`, `version`. */
  readonly check: string;
  /** Where: a file, an address, the id of a replica. */
  readonly place: string;
  /** What was found, where nothing is wrong. */
  readonly detail: string;
  /** What is wrong; empty when nothing is. */
  readonly problem: string;
  readonly hint: string;
}

export const fine = (check: string, place: string, detail: string): Check => ({
  ...{ check, place, detail },
  problem: '',
  hint: '',
});

export const finding = (check: string, place: string, problem: string, hint: string): Check => ({
  ...{ check, place, problem, hint },
  detail: '',
});

/** An error of a part of the program as a finding: most have their own place and hint. */
export function findingOf(check: string, place: string, error: unknown, hint: string): Check {
  if (error instanceof InputError) return finding(check, error.place, error.problem, error.hint);
  return finding(check, place, error instanceof Error ? error.message : String(error), hint);
}

/** Clocks that differ by more are a finding: tokens, leases and limits of a minute depend on them. */
const MOST_CLOCK_MS = 2000;

/** @param aheadMs how far the other clock is ahead of this one */
export function clockCheck(place: string, aheadMs: number): Check {
  const seconds = `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
  return Math.abs(aheadMs) > MOST_CLOCK_MS
    ? finding('clock', place, `its clock is ${seconds}`, 'synchronise both machines with NTP')
    : fine('clock', place, `differs by less than ${MOST_CLOCK_MS / 1000} s`);
}
