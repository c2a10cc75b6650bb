import { lognormal } from '../../kernel/distributions.js';
import { type RandomStream, randomStream } from '../../kernel/random-stream.js';
import { parseDuration } from '../../kernel/text/duration.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { thinkTimeInvalid } from '../errors.js';

/** How long a user waits before the next turn, in whole microseconds. */
export type ThinkTime = () => number;

/** No pause is longer (about 30 years): clocks stay exact for any distribution. */
const LONGEST_US = 1e15;
/** The largest parameter of a lognormal: e^20 seconds are 15 years. */
const LARGEST_LOG = 20;

/** The pauses of `--think-time-ms` and `--think-time-dist`; null when neither is given. */
export function thinkTimeOf(flags: { thinkTimeMs?: number; thinkTimeDist?: string }, seed: number): ThinkTime | null {
  const { thinkTimeMs, thinkTimeDist } = flags;
  if (thinkTimeMs !== undefined && thinkTimeDist !== undefined) {
    throw thinkTimeInvalid('--think-time-dist', 'given together with --think-time-ms', 'give one of the two');
  }
  if (thinkTimeDist !== undefined) return parseThinkTime(thinkTimeDist, randomStream(seed, 'think-time'));
  if (thinkTimeMs === undefined) return null;
  if (!(thinkTimeMs >= 0 && thinkTimeMs * 1000 <= LONGEST_US)) {
    throw thinkTimeInvalid('--think-time-ms', `${thinkTimeMs} is not a pause`, 'give milliseconds from 0');
  }
  const us = Math.round(thinkTimeMs * 1000);
  return () => us;
}

const DISTRIBUTIONS: Record<string, { required: string[]; optional: string[]; form: string }> = {
  lognormal: { required: ['mu', 'sigma'], optional: ['min', 'max'], form: 'lognormal:mu=1.5,sigma=0.5,min=3s,max=30s' },
  constant: { required: ['value'], optional: [], form: 'constant:value=500ms' },
};

/** `lognormal:mu=,sigma=[,min=3s,max=30s]` (mu: logarithm of seconds) or `constant:value=500ms`. */
export function parseThinkTime(text: string, random: RandomStream): ThinkTime {
  const fail = (problem: string, hint: string) => thinkTimeInvalid('--think-time-dist', problem, hint);
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const distribution = Object.hasOwn(DISTRIBUTIONS, name) ? DISTRIBUTIONS[name] : undefined;
  if (distribution === undefined) {
    throw fail(`unknown distribution '${name}'`, knownNames(name, Object.keys(DISTRIBUTIONS)));
  }
  const { required, optional, form } = distribution;
  const known = [...required, ...optional];
  const given = new Map<string, string>();
  for (const part of colon < 0 || colon === text.length - 1 ? [] : text.slice(colon + 1).split(',')) {
    const equals = part.indexOf('=');
    const key = (equals < 0 ? part : part.slice(0, equals)).trim();
    if (equals < 0) throw fail(`'${part}' is not key=value`, `write it as ${form}`);
    if (!known.includes(key)) throw fail(`unknown parameter '${key}' of ${name}`, knownNames(key, known));
    if (given.has(key)) throw fail(`parameter '${key}' is given twice`, 'give it once');
    given.set(key, part.slice(equals + 1).trim());
  }
  for (const key of required) {
    if (!given.has(key)) throw fail(`${name} needs '${key}'`, `write it as ${form}`);
  }
  const number = (key: string) => {
    const value = given.get(key)!;
    if (value === '' || !Number.isFinite(Number(value)))
      throw fail(`${key} '${value}' is not a number`, `write it as ${form}`);
    return Number(value);
  };
  const duration = (key: string) => {
    const us = parseDuration(given.get(key)!);
    if (us !== null && us <= LONGEST_US) return us;
    throw fail(`${key} '${given.get(key)}' is not a duration`, 'give it with a unit, as in 500ms, 3s or 1m30s');
  };

  if (name === 'constant') {
    const us = Math.round(duration('value'));
    return () => us;
  }
  const mu = number('mu');
  const sigma = number('sigma');
  if (mu > LARGEST_LOG) throw fail(`mu ${mu} is too large`, `give the logarithm of seconds, at most ${LARGEST_LOG}`);
  if (sigma > LARGEST_LOG) throw fail(`sigma ${sigma} is too large`, `give a spread of at most ${LARGEST_LOG}`);
  if (sigma < 0) throw fail(`sigma ${sigma} is negative`, 'give a spread of 0 or more');
  const min = given.has('min') ? duration('min') : 0;
  const max = given.has('max') ? duration('max') : LONGEST_US;
  if (min > max) throw fail(`min ${given.get('min')} is longer than max ${given.get('max')}`, 'swap the two');
  return () => Math.round(Math.min(max, Math.max(min, lognormal(random, mu, sigma) * 1e6)));
}
