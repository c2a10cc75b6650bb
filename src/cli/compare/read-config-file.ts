import { isMap, isScalar, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { readInputFile } from '../../workload/input-file.js';
import { configInvalid, configUnknownKey } from '../errors.js';
import type { FlagTable } from '../flags/flag.js';
import type { Setting, Settings } from './settings.js';

/** Flags of `run` that say what is done with one result: a comparison has its own. */
const OF_ONE_RUN = [
  ...['seed', 'format', 'log', 'metrics-path', 'results-path', 'decisions-path', 'trace-output'],
  ...['trace-level', 'counterfactual-k', 'summarize-trace'],
];

/** Reads a variant from a file: the flags of `run` and `replay` as keys. Every key must be known, every value right. */
export async function readConfigFile(path: string, flags: FlagTable): Promise<Settings> {
  const text = (await readInputFile(path)).toString('utf8');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const placeOf = (offset: number, key?: string) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}${key === undefined ? '' : ` (${key})`}`;
  };
  const syntax = document.errors[0];
  if (syntax !== undefined) {
    const several = syntax.code === 'MULTIPLE_DOCS';
    const problem = several ? 'a second YAML document starts here' : syntax.message.split(/ at line |\n/)[0]!;
    throw configInvalid(
      placeOf(syntax.pos[0]),
      problem,
      several ? 'keep one document in the file' : 'write plain YAML',
    );
  }
  if (!isMap(document.contents))
    throw configInvalid(path, 'holds no keys', "write flags as in 'routing-policy: weighted'");
  const settings = new Map<string, Setting>();
  for (const { key, value } of document.contents.items as Pair<Node, Node | null>[]) {
    const given = isScalar(key) ? String(key.value) : '';
    const place = placeOf(key.range![0], given);
    const name = mainName(given, flags);
    if (name === undefined) {
      if (OF_ONE_RUN.includes(given)) throw configInvalid(place, 'is not part of a variant', 'leave it out');
      throw configUnknownKey(place, given, Object.keys(flags));
    }
    const setting = settingOf(
      value,
      placeOf(value?.range?.[0] ?? key.range![0], given),
      flags[name]!.kind === 'switch',
    );
    if (setting === null) continue;
    flags[name]!.read(setting.text, setting.place);
    settings.set(name, setting);
  }
  return settings;
}

function mainName(given: string, flags: FlagTable): string | undefined {
  if (Object.hasOwn(flags, given)) return given;
  return Object.keys(flags).find((name) => flags[name]!.aliases.includes(given));
}

/** Null for a switch that is off. */
function settingOf(node: Node | null, place: string, isSwitch: boolean): Setting | null {
  if (!isScalar(node) || node.value === null)
    throw configInvalid(place, 'is not a single value', 'write it as the flag takes it');
  if (!isSwitch)
    return { text: typeof node.value === 'string' ? node.value : String(node.source ?? node.value), place };
  if (typeof node.value !== 'boolean') throw configInvalid(place, 'is a switch', 'write true or false');
  return node.value ? { text: '', place } : null;
}
