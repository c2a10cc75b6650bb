import { knownNames } from '../../../kernel/text/nearest-name.js';
import type { LengthLimits, LengthParameter } from '../../lengths/length-distribution.js';
import { lengthDistribution } from '../../lengths/registry.js';
import { type LengthAt, lengthsOf } from '../walk.js';
import type { Fail, Rule } from './rule.js';

/** Every length distribution has the parameters it needs and no other, each within its limits. */
export const parametersFit: Rule = (spec, fail) => {
  for (const at of lengthsOf(spec)) {
    const { parameters } = lengthDistribution(at.length.type);
    if (at.length.file !== undefined && parameters !== null) {
      throw fail(`${at.path}.file`, `a ${at.length.type} distribution has no file`, 'give its params');
    }
    if (parameters === null) checkShares(at, fail);
    else checkParameters(at, parameters, fail);
  }
};

function checkParameters(at: LengthAt, known: Readonly<Record<string, LengthParameter>>, fail: Fail): void {
  const { path, limits } = at;
  const { type, params = {} } = at.length;
  for (const [name, value] of Object.entries(params)) {
    const parameter = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (parameter === undefined) {
      throw fail(`${path}.params.${name}`, `unknown parameter of ${type}`, knownNames(name, Object.keys(known)));
    }
    const { min, max, above } = parameter.values === 'amount' ? amount(limits) : parameter.values;
    if (value >= min && value <= max && !(above && value === min)) continue;
    const hint = `give a number ${above ? 'above' : 'from'} ${min} up to ${max}`;
    throw fail(`${path}.params.${name}`, `${value} is out of range`, hint);
  }
  for (const [name, { needed, help }] of Object.entries(known)) {
    if (!needed || Object.hasOwn(params, name)) continue;
    throw fail(`${path}.params.${name}`, `${type} needs it`, `give it: ${help}`);
  }
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, mean } = params;
  if (min > max) throw fail(`${path}.params.min`, `${min} is above max ${max}`, 'swap the two');
  if (mean === undefined || (mean >= min && mean <= max)) return;
  throw fail(`${path}.params.mean`, `${mean} is outside min and max`, 'move one of the three');
}

/** 0 is allowed for what rounds up to 1. */
function amount({ most }: LengthLimits): { min: number; max: number; above?: boolean } {
  return { min: 0, max: most };
}

function checkShares({ path, length, limits }: LengthAt, fail: Fail): void {
  const { params, file } = length;
  if (params !== undefined && file !== undefined)
    throw fail(`${path}.file`, 'is given together with params', 'keep one of them');
  if (file !== undefined) return;
  const shares = Object.entries(params ?? {});
  if (shares.length === 0) {
    throw fail(
      `${path}.params`,
      'an empirical distribution needs lengths',
      'give a file, or params with the share of each length',
    );
  }
  let sum = 0;
  for (const [name, share] of shares) {
    const at = `${path}.params.${name}`;
    const value = Number(name);
    if (!(Number.isInteger(value) && value >= limits.least && value <= limits.most)) {
      const hint = `give whole numbers from ${limits.least} to ${limits.most}, each with its share`;
      throw fail(at, `'${name}' is not a length`, hint);
    }
    if (share < 0) throw fail(at, `the share ${share} is negative`, 'give shares from 0');
    sum += share;
  }
  if (sum <= 0) throw fail(`${path}.params`, 'all shares are 0', 'give at least one above 0');
}
