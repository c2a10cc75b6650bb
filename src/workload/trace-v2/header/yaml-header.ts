import { readYaml } from '../../../schema/read-yaml.js';
import { HEADER_CODES } from '../../errors.js';
import type { TraceHeader } from '../../trace.js';
import { HEADER_SCHEMA, TRACE_VERSIONS, traceHeaderOf } from './header-schema.js';

/** Reads a header of any form. Unknown keys are errors: a misspelt one would otherwise be ignored in silence. */
export function readYamlHeader(text: string, file: string): TraceHeader {
  const start = `start it with trace_version: ${TRACE_VERSIONS.at(-1)}`;
  const { given, places, value } = readYaml(text, file, HEADER_SCHEMA, HEADER_CODES, start);
  return traceHeaderOf(value, (key) =>
    Object.hasOwn(given, key) ? places.at(places.offset([key], 'unknown-key'), key) : `${file} (${key})`,
  );
}
