import type { Node, Pair, YAMLMap } from 'yaml';
import { nearestName } from '../../../kernel/nearest-name.js';
import { headerInvalid, headerUnknownKey } from '../../errors.js';
import type { TraceHeader, TraceServer } from '../../trace.js';
import {
  HEADER_KEYS,
  type HeaderKeys,
  type HeaderKind,
  MODES,
  SERVER_KEYS,
  TIME_UNITS,
  TRACE_VERSIONS,
} from './header-keys.js';

/** Reads a header of any form. Unknown keys are errors: a misspelt one would otherwise be ignored in silence. */
export async function readYamlHeader(text: string, file: string): Promise<TraceHeader> {
  const { isMap, isScalar, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number, key?: string) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}${key === undefined ? '' : ` (${key})`}`;
  };
  const syntax = document.errors[0];
  if (syntax?.code === 'MULTIPLE_DOCS') {
    throw headerInvalid(at(syntax.pos[0]), 'a second YAML document starts here', 'keep one document in the file');
  }
  if (syntax !== undefined) {
    throw headerInvalid(at(syntax.pos[0]), syntax.message.split(/ at line |\n/)[0]!, 'write the header as plain YAML');
  }
  if (!isMap(document.contents)) {
    throw headerInvalid(file, 'holds no keys', `start it with trace_version: ${TRACE_VERSIONS.at(-1)}`);
  }

  function checkMap(map: YAMLMap<unknown, unknown>, keys: HeaderKeys | { each: HeaderKeys }, parent: string): void {
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const name = isScalar(key) ? String(key.value) : '';
      const path = parent === '' ? name : `${parent}.${name}`;
      const kind = isEach(keys) ? keys.each : Object.hasOwn(keys, name) ? keys[name]! : undefined;
      if (kind === undefined) throw headerUnknownKey(at(key.range![0], path), name, Object.keys(keys));
      checkValue(value, kind, at((value ?? key).range![0], path), path);
    }
  }

  function checkValue(node: Node | null, kind: HeaderKind, place: string, path: string): void {
    if (kind === 'anything' || node === null || (isScalar(node) && node.value === null)) return;
    if (typeof kind === 'object') {
      const wanted = Object.keys(isEach(kind) ? kind.each : kind).join(', ');
      if (!isMap(node))
        throw headerInvalid(place, 'is not a map', `give its keys: ${isEach(kind) ? 'per SLO class ' : ''}${wanted}`);
      checkMap(node, kind, path);
      return;
    }
    const value = isScalar(node) ? node.value : undefined;
    if (kind === 'text' && value === undefined) throw headerInvalid(place, 'is not a text', 'give a single value');
    if (kind === 'whole' && !Number.isInteger(value)) {
      throw headerInvalid(place, `'${node}' is not a whole number`, 'give a whole number');
    }
    if (kind === 'count' && !(Number.isInteger(value) && (value as number) >= 0)) {
      throw headerInvalid(place, `'${node}' is not a whole number from 0`, 'give a whole number that is not negative');
    }
    if (kind === 'number' && !(typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY)) {
      throw headerInvalid(place, `'${node}' is not a number from 0`, 'give a number that is not negative');
    }
  }

  const top = document.contents;
  checkMap(top, HEADER_KEYS, '');
  const place = (key: string) => {
    const pair = (top.items as Pair<Node, Node>[]).find((item) => isScalar(item.key) && item.key.value === key);
    return pair === undefined ? `${file} (${key})` : at(pair.key.range![0], key);
  };
  const oneOf = (key: string, known: readonly string[]): string => {
    const value = String(top.get(key) ?? '');
    if (value === '' || known.includes(value)) return value;
    const near = nearestName(value, known);
    const meant = near === undefined ? '' : `did you mean '${near}'? `;
    throw headerInvalid(place(key), `unknown value '${value}'`, `${meant}known: ${known.join(', ')}`);
  };
  const version = top.get('trace_version');
  if (version != null && !(TRACE_VERSIONS as readonly unknown[]).includes(version)) {
    throw headerInvalid(
      place('trace_version'),
      `version ${version} cannot be read`,
      `known: ${TRACE_VERSIONS.join(', ')}`,
    );
  }
  oneOf('time_unit', TIME_UNITS);
  const seed = top.get('workload_seed');
  const blockTokens = top.get('block_tokens');
  const said = document.toJS() as SaidHeader;
  return {
    mode: oneOf('mode', MODES) as TraceHeader['mode'],
    ...(typeof seed === 'number' ? { workloadSeed: seed } : {}),
    sessionContextGrowth: String(top.get('session_context_growth') ?? ''),
    goodputTargets: goodputTargets(said.goodput_slo_targets ?? {}),
    ...(typeof blockTokens === 'number' ? { blockTokens } : {}),
    ...observation(said),
    place,
  };
}

interface SaidHeader {
  goodput_slo_targets?: MsTargets;
  warm_up_requests?: number;
  server?: Record<string, unknown> | null;
  network?: { measured_rtt_ms?: number } | null;
  partial?: unknown;
  late?: unknown;
}

/** What only those write who have sent the requests themselves. */
function observation({ late, network, partial, server, warm_up_requests: warmUp }: SaidHeader): Partial<TraceHeader> {
  return {
    ...((warmUp ?? 0) > 0 ? { warmUpRequests: warmUp! } : {}),
    ...(server == null ? {} : { server: serverOf(server) }),
    ...(network?.measured_rtt_ms == null ? {} : { rttMs: network.measured_rtt_ms }),
    ...(partial == null ? {} : { partial: String(partial) }),
    ...(late == null ? {} : { late: String(late) }),
  };
}

function serverOf(said: Record<string, unknown>): TraceServer {
  const server: Record<string, unknown> = {};
  for (const [key, { kind, name }] of Object.entries(SERVER_KEYS)) {
    const value = said[key];
    if (value != null) server[name] = kind === 'text' ? String(value) : value;
  }
  return server;
}

type MsTargets = Record<string, { ttft_ms?: number; itl_ms?: number; e2e_ms?: number } | null>;

function goodputTargets(given: MsTargets): TraceHeader['goodputTargets'] {
  const targets: TraceHeader['goodputTargets'] = {};
  for (const [sloClass, target] of Object.entries(given)) {
    targets[sloClass] = {
      ...(target?.ttft_ms === undefined ? {} : { ttftUs: target.ttft_ms * 1000 }),
      ...(target?.itl_ms === undefined ? {} : { itlUs: target.itl_ms * 1000 }),
      ...(target?.e2e_ms === undefined ? {} : { e2eUs: target.e2e_ms * 1000 }),
    };
  }
  return targets;
}

function isEach(keys: HeaderKeys | { each: HeaderKeys }): keys is { each: HeaderKeys } {
  return typeof keys.each === 'object';
}
