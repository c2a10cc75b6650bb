import * as v from 'valibot';
import type { AnySection } from '../../schema/facts.js';
import { choice, field, number, required, section, text, flag as truth } from '../../schema/fields.js';
import type { Flag, FlagTable } from '../flags/flag.js';

/** Flags of `run` about the output of one result: a comparison has its own. */
export const OF_ONE_RUN = [
  ...['seed', 'format', 'log', 'metrics-path', 'results-path', 'decisions-path', 'trace-output'],
  'saturation-report',
  ...['trace-level', 'counterfactual-k', 'summarize-trace'],
];

/** A file that describes a variant: the flags of `run` and `replay` as keys. */
export async function variantSchema(flags: FlagTable): Promise<AnySection> {
  const entries = Object.entries(flags).map(async ([name, flag]) => {
    const { aliases, defaultText, help } = flag;
    const value = field(await valueSchema(flag), { help, defaultText });
    return [name, ...aliases].map((key) => [key, value] as const);
  });
  const keys = section('Variant', Object.fromEntries((await Promise.all(entries)).flat()));
  const accepts = "flags of 'twinyard run --help' or 'twinyard replay --help' as keys";
  return required(keys, { accepts }) as unknown as AnySection;
}

async function valueSchema(flag: Flag<unknown>): Promise<v.GenericSchema> {
  if (flag.kind === 'switch') return truth;
  if (flag.schema !== undefined) return flag.schema;
  if (flag.names !== undefined) return choice(await flag.names());
  // A list of one number need not be quoted.
  return flag.kind === 'list' ? v.union([text(), number()]) : text();
}
