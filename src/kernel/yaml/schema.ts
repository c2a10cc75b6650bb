/** What the value of a key may be: checks, order of writing and the documentation are made from it. */
export type Kind =
  | { type: 'text'; known?: readonly string[] }
  | { type: 'number'; min: number; max: number; whole?: boolean; above?: boolean }
  | { type: 'switch' }
  /** Checked by the caller. */
  | { type: 'any' }
  | { type: 'keys'; title: string; keys: Keys }
  | { type: 'list'; of: Extract<Kind, { type: 'keys' }> }
  /** Keys of one's own choice: what they stand for, and what each holds. */
  | { type: 'each'; name: string; of: Kind };

export interface Key {
  kind: Kind;
  needed?: boolean;
  /** What holds when the key is absent, in words; empty for nothing. */
  default?: string;
  /** One line. */
  help: string;
}

export type Keys = Readonly<Record<string, Key>>;

export const text = (known?: readonly string[]): Kind =>
  known === undefined ? { type: 'text' } : { type: 'text', known };
export const number = (min: number, max: number): Kind => ({ type: 'number', min, max });
export const above = (min: number, max: number): Kind => ({ type: 'number', min, max, above: true });
export const whole = (min: number, max: number): Kind => ({ type: 'number', min, max, whole: true });
export const flag: Kind = { type: 'switch' };

/** What a value may be, as the end of a sentence that starts with "give". */
export function accepted(kind: Kind): string {
  switch (kind.type) {
    case 'text':
      return kind.known === undefined ? 'a text' : `one of ${kind.known.map((name) => name || "''").join(', ')}`;
    case 'number':
      if (kind.max === Number.POSITIVE_INFINITY) return 'a number';
      return `a ${kind.whole ? 'whole ' : ''}number ${kind.above ? 'above' : 'from'} ${kind.min}${kind.above ? ' up' : ''} to ${kind.max}`;
    case 'switch':
      return 'true or false';
    case 'any':
      return 'a value';
    case 'keys':
      return `its keys: ${Object.keys(kind.keys).join(', ')}`;
    case 'list':
      return `a list of entries with the keys ${Object.keys(kind.of.keys).join(', ')}`;
    case 'each':
      return `${kind.name} with ${accepted(kind.of)}`;
  }
}
