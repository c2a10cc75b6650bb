import { parseDuration } from '../../kernel/text/duration.js';
import { above, number, whole } from '../../schema/fields.js';

import { EVERY_CLASS } from '../../simulator/cluster-config.js';
import { badChoice, badValue } from '../errors.js';
import { MAX_SPAN_US } from './kinds.js';
import { readNumber } from './read-number.js';

/** What durations by class look like. */
export const CLASS_DURATIONS =
  "a duration for all classes, or one for each, as in '500ms' or 'critical=200ms,batch=5s'";

const DURATIONS = "a duration with its unit, as in '200ms', '1.5s' or '10m'";

/** `200ms`, `1.5s`, `10m`, `1h30m`: whole microseconds above 0. A bare number is refused: its unit is not known. */
export function readDuration(text: string, place: string): number {
  const given = text.trim();
  const parsed = parseDuration(given);
  if (parsed === null) {
    const bare = given !== '' && Number.isFinite(Number(given));
    throw badValue(place, text, bare ? 'has no unit' : 'is not a duration', DURATIONS);
  }
  const us = Math.round(parsed);
  if (us < 1) throw badValue(place, text, 'is shorter than a microsecond', DURATIONS);
  if (us > MAX_SPAN_US) throw badValue(place, text, 'is too large', `a duration of at most ${MAX_SPAN_US / 1e6}s`);
  return us;
}

/** Splits `a=1,b=2` (or with another separator) and reads each value; a key may appear once. */
function readPairs(
  text: string,
  place: string,
  separator: '=' | ':',
  accepted: string,
  readValue: (text: string, place: string) => number,
): Record<string, number> {
  const pairs: [string, number][] = [];
  for (const item of text.split(',')) {
    const at = item.lastIndexOf(separator);
    const key = item.slice(0, Math.max(0, at)).trim();
    if (key === '') throw badValue(place, item, `is not of the form name${separator}value`, accepted);
    if (pairs.some(([known]) => known === key)) throw badValue(place, key, 'appears twice', accepted);
    pairs.push([key, readValue(item.slice(at + 1).trim(), `${place} (${key})`)]);
  }
  return Object.fromEntries(pairs);
}

/** `critical=200ms,batch=5s` to microseconds by class; `500ms` alone is that of every class. */
export function readClassDurations(text: string, place: string): Record<string, number> {
  const named = text
    .split(',')
    .map((item) => (/^\s*[\d.]/.test(item) && !item.includes('=') ? `${EVERY_CLASS}=${item}` : item))
    .join(',');
  return readPairs(named, place, '=', CLASS_DURATIONS, readDuration);
}

/** `critical=100000,batch=5000000`: microseconds by class. */
export function readClassMicroseconds(text: string, place: string): Record<string, number> {
  const accepted = "classes with microseconds, as in 'critical=100000,batch=5000000'";
  const schema = whole(1, MAX_SPAN_US);
  return readPairs(text, place, '=', accepted, (value, where) => readNumber(value, where, schema));
}

/** `throughput:0.7,p99_ttft:0.3`: finite weights above 0 of the measures that exist. */
export function readWeights(text: string, place: string, known: readonly string[]): Record<string, number> {
  const accepted = `measures with weights, as in '${known[0]}:0.7,${known[2]}:0.3'`;
  const schema = above(0);
  const weights = readPairs(text, place, ':', accepted, (value, where) => readNumber(value, where, schema));
  for (const key of Object.keys(weights)) if (!known.includes(key)) throw badChoice(place, key, known);
  return weights;
}

/** `1000,200,10`: finite numbers, between `least` and `most` of them. */
export function readCoefficients(text: string, place: string, least: number, most: number): number[] {
  const accepted = `${least === most ? least : `${least} to ${most}`} numbers with commas between them`;
  const items = text.split(',');
  if (items.length < least || items.length > most) {
    throw badValue(place, text, `has ${items.length} value${items.length === 1 ? '' : 's'}`, accepted);
  }
  const schema = number(0);
  return items.map((item) => readNumber(item.trim(), place, schema));
}

/** `1,1,2`: how many times as long something takes, one number for each replica. */
export function readFactors(text: string, place: string): number[] {
  const schema = above(0, 1000);
  return text.split(',').map((item) => readNumber(item.trim(), place, schema));
}

/** Replicas of one kind: a GPU of the catalogue with its tensor parallelism, or the latency profile of an engine. */
export interface FleetKind {
  readonly count: number;
  /** As it was given. */
  readonly text: string;
  readonly gpu: string | null;
  /** Null: as is usual for the model. */
  readonly tp: number | null;
  readonly profile: string | null;
}

export const FLEET_GRAMMAR =
  "GPUs with their tensor parallelism, or files of latency profiles, with commas between them: '2*H100,4*L4:2,slow.json'";
const MOST_REPLICAS = 100_000;
const COUNTED = /^(?:(\d{1,6})\s*\*\s*)?(.+)$/;
const GPU = /^([\w.+-]+?)(?::(\d{1,4}))?$/;

/** Reads `2*H100,4*L4:2,slow.json`: two H100s, four replicas of two L4s each, and one engine with its profile. */
export function readFleet(text: string, place: string): FleetKind[] {
  const kinds = text.split(',').map((part) => readKind(part.trim(), place));
  const replicas = kinds.reduce((sum, { count }) => sum + count, 0);
  if (replicas > MOST_REPLICAS) throw badValue(place, text, `has ${replicas} replicas`, `at most ${MOST_REPLICAS}`);
  return kinds;
}

function readKind(text: string, place: string): FleetKind {
  const [, counted = '1', what = ''] = COUNTED.exec(text) ?? [];
  const count = Number(counted);
  if (what === '' || count === 0) throw badValue(place, text, 'is not a kind of replica', FLEET_GRAMMAR);
  if (/\.json$/i.test(what)) return { count, text: what, gpu: null, tp: null, profile: what };
  const [, gpu, tp] = GPU.exec(what) ?? [];
  if (gpu === undefined || tp === '0') throw badValue(place, text, 'is not a kind of replica', FLEET_GRAMMAR);
  return { count, text: what, gpu, tp: tp === undefined ? null : Number(tp), profile: null };
}
