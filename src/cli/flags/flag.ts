import type * as v from 'valibot';

/** One command-line flag as data: the source of commander options, help, checks and documentation. */
export interface Flag<Value> {
  readonly kind: 'count' | 'number' | 'us' | 'fraction' | 'choice' | 'list' | 'text' | 'file' | 'switch';
  /** The placeholder of the value in help; empty for a switch. */
  readonly placeholder: string;
  /** One line. */
  readonly help: string;
  readonly default: Value;
  /** How help shows the default; empty for a flag that has none. */
  readonly defaultText: string;
  /** What a value may be, as the end of a sentence that starts with "give". */
  readonly accepted: string;
  /** Other spellings of the same flag. */
  readonly aliases: readonly string[];
  /** A short form: `o` for `-o`. */
  readonly letter?: string;
  /** May be given more than once: `read` then gets the texts one below the other. */
  readonly repeats?: true;
  /** The type of the value in files of flags; absent for text and for values with their own grammar. */
  readonly schema?: v.GenericSchema;
  /** Turns the text into a value; throws an InputError that names `place`. */
  read(text: string, place: string): Value;
  /** Names that a registry owns: loaded when help is printed or the flag is given, never at start-up. */
  readonly names?: () => Promise<readonly string[]>;
  /** Values that shells offer; others may be accepted too. */
  readonly suggestions?: () => Promise<readonly string[]>;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** A heading of the help text and the flags under it. */
export interface FlagGroup {
  readonly title: string;
  readonly flags: FlagTable;
}

export type FlagValue<F> = F extends Flag<infer Value> ? Value : never;

/** Every flag's value with defaults filled in, which of them were given, and the arguments without a flag. */
export interface FlagValues<Table extends FlagTable> {
  readonly values: { readonly [Name in keyof Table]: FlagValue<Table[Name]> };
  readonly operands: readonly string[];
  given(name: keyof Table & string): boolean;
}

/** The same flags with values that stay texts, checked: another command or a variant reads them. */
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
