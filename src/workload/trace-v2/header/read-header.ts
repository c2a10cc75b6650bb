import type { TraceHeader } from '../../trace.js';
import { readPlainHeader } from './plain-header.js';

/** Reads the YAML file of a trace. */
export async function readTraceHeader(text: string, file: string): Promise<TraceHeader> {
  const plain = readPlainHeader(text, file);
  if (plain !== null) return plain;
  const { readYamlHeader } = await import('./yaml-header.js');
  return readYamlHeader(text, file);
}
