import type { TraceHeader } from '../../trace.js';
import { HEADER_KEYS, MODES, TIME_UNITS, TRACE_VERSIONS } from './header-keys.js';

/** A line that means the same in every YAML: a key and a whole number or a word that is not one of YAML's own. */
const PLAIN_LINE = /^([a-z_]+): (?:(-?[1-9]\d{0,14}|0)|(?!(?:true|false|null)$)([a-z][\w./-]*))$/i;

/**
 * Reads a header made of plain `key: value` lines, as most are; null when it is anything else or has a mistake.
 * The YAML package takes longer to load than ten thousand requests take to read.
 */
export function readPlainHeader(text: string, file: string): TraceHeader | null {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const values = new Map<string, string>();
  for (const line of lines) {
    const [, key = '', number, word] = PLAIN_LINE.exec(line) ?? [];
    const kind = Object.hasOwn(HEADER_KEYS, key) ? HEADER_KEYS[key] : undefined;
    const isNumber = number !== undefined && (kind === 'whole' || (kind === 'count' && !number.startsWith('-')));
    if (values.has(key) || !(isNumber || (kind === 'text' && word !== undefined))) return null;
    values.set(key, (number ?? word)!);
  }
  const mode = values.get('mode') ?? '';
  const unit = values.get('time_unit') ?? '';
  const version = values.get('trace_version') ?? '';
  const isKnown = (value: string, known: readonly string[]) => value === '' || known.includes(value);
  if (values.size === 0 || !isKnown(version, TRACE_VERSIONS.map(String))) return null;
  if (!isKnown(mode, MODES) || !isKnown(unit, TIME_UNITS)) return null;
  const seed = values.get('workload_seed');
  const blockTokens = values.get('block_tokens');
  const warmUp = Number(values.get('warm_up_requests') ?? 0);
  return {
    mode: mode as TraceHeader['mode'],
    ...(seed === undefined ? {} : { workloadSeed: Number(seed) }),
    sessionContextGrowth: values.get('session_context_growth') ?? '',
    goodputTargets: {},
    ...(blockTokens === undefined ? {} : { blockTokens: Number(blockTokens) }),
    ...(warmUp > 0 ? { warmUpRequests: warmUp } : {}),
    ...(values.has('partial') ? { partial: values.get('partial')! } : {}),
    ...(values.has('late') ? { late: values.get('late')! } : {}),
    place: (key) => {
      const line = lines.findIndex((candidate) => candidate.startsWith(`${key}:`));
      return line < 0 ? `${file} (${key})` : `${file}:${line + 1}:1 (${key})`;
    },
  };
}
