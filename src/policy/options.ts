/**
 * One option of a policy: validation, default and documentation in one place. A schema of our own instead of a library's,
 * because every command loads every policy, and would load a large dependency with them.
 */
export interface PolicyOption<T> {
  default: T;
  /** The values it takes, for people: `number above 0`. */
  accepts: string;
  help: string;
  /** What is wrong with a value, or null. */
  problem(value: unknown): string | null;
}

/** The options of a policy by name. */
export type OptionSchema<Options> = { readonly [Name in keyof Options]: PolicyOption<Options[Name]> };

/** Options without a single one. */
export const NO_OPTIONS: OptionSchema<Record<never, never>> = {};

interface NumberOption {
  default: number;
  help: string;
  /** The least value, and a value it must be above. */
  from?: number;
  above?: number;
  whole?: boolean;
}

export function numberOption({ from, above, whole, ...facts }: NumberOption): PolicyOption<number> {
  let accepts = whole ? 'whole number' : 'number';
  if (from !== undefined) accepts += ` from ${from}`;
  if (above !== undefined) accepts += ` above ${above}`;
  const fits = (value: number) =>
    (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    (from === undefined || value >= from) &&
    (above === undefined || value > above);
  return {
    ...facts,
    accepts,
    problem: (value) => (typeof value === 'number' && fits(value) ? null : `${shown(value)} is not a ${accepts}`),
  };
}

export function choiceOption<Name extends string>(
  names: readonly Name[],
  facts: { default: Name; help: string },
): PolicyOption<Name> {
  const accepts = names.map((name) => `'${name}'`).join(' or ');
  return {
    ...facts,
    accepts,
    problem: (value) => (names.includes(value as Name) ? null : `${shown(value)} is not ${accepts}`),
  };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : (JSON.stringify(value) ?? String(value));
}
