import * as v from 'valibot';
import type { TraceHeader } from '../../trace.js';
import { HEADER_SCHEMA, traceHeaderOf } from './header-schema.js';

/** Reads the YAML file of a trace. */
export async function readTraceHeader(text: string, file: string): Promise<TraceHeader> {
  const plain = readPlainHeader(text, file);
  if (plain !== null) return plain;
  const { readYamlHeader } = await import('./yaml-header.js');
  return readYamlHeader(text, file);
}

/** A line that means the same in every YAML: a key and a whole number or a word that is not one of YAML's own. */
const PLAIN_LINE = /^([a-z_]+): (?:(-?[1-9]\d{0,14}|0)|(?!(?:true|false|null)$)([a-z][\w./-]*))$/i;

/**
 * Reads a header of plain `key: value` lines, as most are; null when it is anything else or has a mistake. Loading the
 * YAML package takes longer than reading ten thousand requests.
 */
export function readPlainHeader(text: string, file: string): TraceHeader | null {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const values: Record<string, string | number> = {};
  for (const line of lines) {
    const [, key = '', number, word] = PLAIN_LINE.exec(line) ?? [];
    if (key === '' || Object.hasOwn(values, key)) return null;
    values[key] = number === undefined ? word! : Number(number);
  }
  const parsed = v.safeParse(HEADER_SCHEMA, values);
  if (lines.length === 0 || !parsed.success) return null;
  return traceHeaderOf(parsed.output, (key) => {
    const line = lines.findIndex((candidate) => candidate.startsWith(`${key}:`));
    return line < 0 ? `${file} (${key})` : `${file}:${line + 1}:1 (${key})`;
  });
}
