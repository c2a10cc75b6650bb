import { existsSync } from 'node:fs';
import { readTraceV2 } from '../trace-v2/read-trace.js';
import { readTracePart } from '../trace-v2/trace-part.js';
import type { TraceFormat } from './format.js';

/** The format of Twinyard and BLIS: a YAML header and a CSV. The header is next to the data, under the same name. */
export const traceV2: TraceFormat = {
  name: 'trace-v2',
  summary: 'TraceV2: CSV with a YAML header of the same name next to it',
  looksLike: 'a CSV that starts with request_id,client_id,...',
  detect: ({ text }) => /^\s*"?request_id"?,"?client_id"?,/.test(text),
  read: (path) => readTraceV2(headerBeside(path), path),
  readPart: (path, part) => readTracePart(headerBeside(path), path, part),
};

/** `p.yaml` for `p.csv` and `p.csv.gz`; null when there is none: the header is optional. */
export function headerBeside(dataPath: string): string | null {
  const stem = dataPath.replace(/\.gz$/, '').replace(/\.csv$/, '');
  return [`${stem}.yaml`, `${stem}.yaml.gz`, `${stem}.yml`].find((path) => existsSync(path)) ?? null;
}
