import { readAxisValues, type SweepAxis } from '../../experiment/sweep/axis.js';
import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { variantFlags } from '../compare/compare-flags.js';
import type { Settings } from '../compare/settings.js';
import { conflictingFlags } from '../errors.js';
import { fileKeyOf } from './file-keys.js';

/** Whether a setting takes whole numbers only. */
export function axisIsWhole(name: string): boolean {
  const kind = variantFlags[name]?.kind;
  return kind === 'count' || kind === 'us';
}

/** `num-instances=4,6,8` as an axis. */
export function readAxisFlag(text: string): SweepAxis {
  const [, given, values] = /^\s*(?:--)?([^=]*?)\s*=(.*)$/s.exec(text) ?? [];
  if (given === undefined || given === '') {
    const hint = 'write name=values, as in num-instances=4,6,8';
    throw new InputError('BAD_AXIS', '--axis', `'${text}' has no '=' after a name`, hint);
  }
  const name = mainName(given);
  const place = `--axis ${name}`;
  return { name, place, values: readAxisValues(values!, place, axisIsWhole(name)) };
}

function mainName(given: string): string {
  return Object.keys(variantFlags).find((name) => variantFlags[name]!.aliases.includes(given)) ?? given;
}

/** Checks that axes are settings of `run` or `replay`, each once and not fixed besides, with values that they take. */
export async function checkAxes(axes: readonly SweepAxis[], base: Settings): Promise<void> {
  if (axes.length === 0) {
    const hint = 'give --axis num-instances=4,6,8, or a file with axes';
    throw new InputError('NOTHING_TO_SWEEP', 'sweep', 'no axis is given', hint);
  }
  for (const [i, { name, place, values }] of axes.entries()) {
    const again = axes.slice(0, i).find((other) => other.name === name);
    if (again !== undefined) throw conflictingFlags(place, 'is an axis twice', 'keep one of them');
    const fixed = base.get(name);
    if (fixed !== undefined)
      throw conflictingFlags(place, `is an axis and also set by ${fixed.place}`, 'keep one of them');
    if (fileKeyOf(name) !== null) continue;
    const flag = Object.hasOwn(variantFlags, name) ? variantFlags[name]! : undefined;
    if (flag === undefined) {
      if (name === 'seed') throw new InputError('BAD_AXIS', place, 'is no axis', 'use --seed 1,2,3 or --seeds 5');
      throw new InputError(
        'BAD_AXIS',
        place,
        'is no flag of run or replay',
        knownNames(name, Object.keys(variantFlags)),
      );
    }
    const known = await flag.names?.();
    for (const text of values.kind === 'list' ? values.values : [String(values.from), String(values.to)]) {
      flag.read(text, place);
      if (known !== undefined && !known.includes(text)) {
        throw new InputError('BAD_CHOICE', place, `'${text}' is not known`, knownNames(text, known));
      }
    }
  }
}
