import type { Flag, FlagTable } from '../flags/flag.js';

/** The same flags with values that stay texts, checked: they are handed on to the command that knows what they mean. */
export function asTexts(flags: FlagTable): Record<string, Flag<string | null>> {
  const entries = Object.entries(flags).map(([name, flag]): [string, Flag<string | null>] => {
    const read = (given: string, place: string) => {
      flag.read(given, place);
      return given;
    };
    return [name, { ...flag, default: null, read }];
  });
  return Object.fromEntries(entries);
}

/** The arguments that say the same to another command, of those flags that were given. */
export function argumentsOf(flags: FlagTable, texts: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(flags).flatMap(([name, flag]) => {
    const text = texts[name];
    if (typeof text !== 'string') return [];
    if (flag.kind === 'switch') return [`--${name}`];
    return (flag.repeats ? text.split('\n') : [text]).flatMap((one) => [`--${name}`, one]);
  });
}
