import { missingFlag } from '../errors.js';
import { file } from '../flags/kinds.js';
import type { NamedPath } from '../output/output-files.js';

export type OutputFormat = 'trace-v2' | 'mooncake' | 'bailian' | 'spec';

/** Where something is written: files that are checked beforehand, or stdout. */
export interface OutputPlace {
  format: OutputFormat;
  /** The file; null for stdout. Of a TraceV2 the one with the rows. */
  path: string | null;
  /** A TraceV2's second file. */
  headerPath: string | null;
}

const FLAG = '--output';

/** The format of a file name's ending; undefined for unknown endings. */
export function formatOfName(path: string): OutputFormat | undefined {
  if (/\.csv(\.gz)?$/.test(path)) return 'trace-v2';
  if (/\.jsonl(\.gz)?$/.test(path)) return 'mooncake';
  return /\.ya?ml(\.gz)?$/.test(path) ? 'spec' : undefined;
}

/** A TraceV2 is two files, `p.yaml` and `p.csv`: named by one of them, or by what they share. */
export function outputPlace(format: OutputFormat, output: string | null): OutputPlace {
  const isStdout = output === null || output === '-';
  if (format !== 'trace-v2') return { format, path: isStdout ? null : output, headerPath: null };
  if (isStdout) {
    throw missingFlag(FLAG, 'must name a file: a TraceV2 is two of them', "give a name, as in '-o morning.csv'");
  }
  const packed = output.endsWith('.gz') ? '.gz' : '';
  const stem = output.replace(/\.gz$/, '').replace(/\.(csv|yaml)$/, '');
  return { format, path: `${stem}.csv${packed}`, headerPath: `${stem}.yaml` };
}

export function placePaths({ headerPath, path }: OutputPlace): NamedPath[] {
  return [headerPath, path].flatMap((name) => (name === null ? [] : [{ flag: FLAG, path: name }]));
}

/** Where a command writes its result. */
export const traceOutputFlags = {
  output: {
    ...file({ help: 'where to write: p.csv (with p.yaml) or p.jsonl, packed as .gz; - for stdout' }),
    letter: 'o',
  },
};

export type TraceOutputFlags = typeof traceOutputFlags;
