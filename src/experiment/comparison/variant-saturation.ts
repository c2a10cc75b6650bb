import type { Saturation } from '../../simulator/result-document.js';
import { type DetectorVotes, detectorNotes, detectorVotes } from '../runs/detector-votes.js';

/** How many of a variant's runs were saturated or too short to tell, and the rate that it keeps. */
export interface VariantSaturation {
  /** Of at least half of the runs; too short where saturated ones are needed for that half. */
  state: Saturation['state'];
  runs: number;
  saturated: number;
  too_short: number;
  /** The mean over saturated runs that tell; null when none does. */
  kept_rps: number | null;
  /** The most requests that a run needs to tell; null when none is too short. */
  enough_requests: number | null;
  /** Of the first saturated run, else of the first one. */
  verdict: string;
  detectors?: DetectorVotes;
}

export function variantSaturation(runs: readonly Saturation[]): VariantSaturation {
  const saturated = runs.filter(({ state }) => state === 'saturated');
  const kept = saturated.flatMap(({ kept_rps }) => kept_rps ?? []);
  const enough = runs.flatMap(({ enough_requests }) => enough_requests ?? []);
  const short = runs.filter(({ state }) => state === 'too-short');
  const isHalf = (count: number) => 2 * count >= runs.length;
  const isShort = isHalf(short.length + saturated.length);
  const others = runs.find(({ state }) => state === 'keeps-up')?.state ?? runs[0]!.state;
  return {
    state: isHalf(saturated.length) ? 'saturated' : isShort ? 'too-short' : others,
    runs: runs.length,
    saturated: saturated.length,
    too_short: short.length,
    kept_rps: kept.length === 0 ? null : kept.reduce((sum, rate) => sum + rate, 0) / kept.length,
    enough_requests: enough.length === 0 ? null : Math.max(...enough),
    verdict: (saturated[0] ?? runs[0]!).verdict,
    ...detectorVotes(runs.map(({ detectors }) => detectors)),
  };
}

interface JudgedVariant {
  name: string;
  saturation: VariantSaturation;
}

/** What a reader has to know before reading latencies: which variants are saturated, and which are too short to tell. */
export function saturationNotes(variants: readonly JudgedVariant[]): string[] {
  const [first, ...others] = variants.filter(({ saturation }) => saturation.saturated > 0);
  const notes = first === undefined ? [] : [saturatedNote(first, others, variants.length)];
  const short = variants.filter(({ saturation }) => saturation.too_short > 0 && saturation.saturated === 0);
  const votes = detectorNotes(variants.map(({ name, saturation }) => ({ name, ...saturation })));
  if (short.length === 0) return [...notes, ...votes];
  const enough = Math.max(...short.map(({ saturation }) => saturation.enough_requests ?? 0));
  const which = short.length === variants.length ? 'every variant' : listedNames(short.map(({ name }) => name));
  return [
    ...notes,
    `Runs are too short to tell whether the fleet keeps up (${which}): requests in flight still grew when the last one arrived. Give --num-requests ${enough} or more.`,
    ...votes,
  ];
}

/** In full about the first: the others are alike. */
function saturatedNote(first: JudgedVariant, others: readonly JudgedVariant[], count: number): string {
  const seeds = ({ saturation: { saturated, runs } }: JudgedVariant) =>
    saturated === runs ? '' : ` with ${saturated} of ${runs} seeds`;
  const also = listedNames(others.map((one) => `${one.name}${seeds(one)}`));
  const rest =
    others.length === 0
      ? ''
      : others.length === count - 1
        ? ', and so is every other variant'
        : `; also saturated: ${also}`;
  const why = first.saturation.verdict.replace(/^saturated: /, '').replace(/; detectors: .*$/, '');
  return `${first.name} is saturated${seeds(first)}: ${why}${rest}. Latencies of a saturated fleet grow with the length of the run.`;
}

const MOST_NAMES = 3;

/** More names than a reader takes in are counted. */
function listedNames(names: readonly string[]): string {
  return names.length <= MOST_NAMES ? names.join('; ') : `${names[0]} and ${names.length - 1} others`;
}
