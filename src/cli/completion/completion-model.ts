import { KINDS } from '../../control/resources/kinds.js';
import { ROUTING_POLICIES } from '../../policy/registry.js';
import { COMMANDS } from '../commands.js';
import { CONVERT_SOURCES } from '../convert/sources.js';
import { type CommandLine, flagsOf } from '../flags/command-line.js';
import type { Flag } from '../flags/flag.js';
import { FILE_FORMATS } from '../schema/schema-documents.js';

/** What a shell offers for a value: words, files, or the names of resources. */
export type Offer =
  | { readonly type: 'words'; readonly words: readonly string[] }
  | { readonly type: 'files' }
  /** Null for the kind that the first operand names. */
  | { readonly type: 'names'; readonly kind: string | null }
  | { readonly type: 'nothing' };

export interface CompletedFlag {
  /** With the dashes, the main one first: `--output`, `-o`. */
  readonly spellings: readonly string[];
  readonly help: string;
  /** Null for a switch. */
  readonly value: Offer | null;
  /** The value is a list with commas: each of its items is completed. */
  readonly isList: boolean;
}

export interface CompletedCommand {
  /** `run`, `trace stats`. */
  readonly path: string;
  readonly summary: string;
  readonly flags: readonly CompletedFlag[];
  /** By position; the last holds for all that follow. */
  readonly operands: readonly Offer[];
}

const words = (...list: readonly string[]): Offer => ({ type: 'words', words: list });
const FILES: Offer = { type: 'files' };
const NOTHING: Offer = { type: 'nothing' };
const NAMES: Offer = { type: 'names', kind: null };
const KEYS: Offer = { type: 'names', kind: 'apikeys' };
const ENDPOINTS: Offer = { type: 'names', kind: 'endpoints' };
const KIND = words(...KINDS.map(({ plural }) => plural));

/** Operands by command; other commands take files, if they take operands at all. */
const OPERANDS: Readonly<Record<string, readonly Offer[]>> = {
  get: [words('all', 'models', ...KINDS.map(({ plural }) => plural)), NAMES],
  describe: [KIND, NAMES],
  delete: [KIND, NAMES],
  wait: [KIND, NAMES],
  events: [KIND, NAMES],
  edit: [KIND, NAMES],
  patch: [KIND, NAMES],
  'experiment status': [NOTHING],
  'experiment fetch': [NOTHING],
  'experiment cancel': [NOTHING],
  'rollout status': [words('endpoint'), NAMES],
  'rollout history': [KIND, NAMES],
  'rollout undo': [KIND, NAMES],
  'shadow add': [words(...ROUTING_POLICIES.map(({ name }) => name))],
  'shadow remove': [NOTHING],
  scale: [words('endpoint'), NAMES],
  logs: [words('endpoint'), NAMES],
  issue: [KEYS],
  'keys show': [KEYS],
  'keys update': [KEYS],
  'keys rotate': [KEYS],
  'keys revoke': [KEYS],
  explain: [NOTHING],
  'profiles show': [ENDPOINTS, NOTHING],
  'profiles pin': [ENDPOINTS, NOTHING],
  'profiles export': [ENDPOINTS, NOTHING],
  'context set': [NOTHING],
  'context use': [NOTHING],
  'context show': [NOTHING],
  'context delete': [NOTHING],
  completion: [words('bash', 'zsh', 'fish')],
  schema: [words(...FILE_FORMATS.map(({ name }) => name))],
};

/** Flags whose values are names of resources. */
const RESOURCE_FLAGS: Readonly<Record<string, string>> = {
  workspace: 'workspaces',
  registry: 'modelregistries',
  key: 'apikeys',
};

/** Every command with its flags and operands, from the tables that the program reads its arguments by. */
export async function completionModel(): Promise<CompletedCommand[]> {
  const { COMMAND_LINES } = await import('../command-lines.js');
  return Promise.all(COMMAND_LINES.map(completedCommand));
}

/** The commands of the first level, with their subcommands. */
export function commandTree(
  model: readonly CompletedCommand[],
): { name: string; summary: string; parts: CompletedCommand[] }[] {
  return COMMANDS.map(({ name, summary }) => ({
    name,
    summary,
    parts: model.filter(({ path }) => path.startsWith(`${name} `)),
  }));
}

async function completedCommand(line: CommandLine): Promise<CompletedCommand> {
  const flags = await Promise.all(Object.entries(flagsOf(line)).map(([name, flag]) => completedFlag(name, flag)));
  const help = { spellings: ['--help', '-h'], help: 'print help', value: null, isList: false };
  return { path: line.name, summary: line.summary, flags: [...flags, help], operands: operandsOf(line) };
}

function operandsOf(line: CommandLine): readonly Offer[] {
  if (line.name === 'convert') return [words(...CONVERT_SOURCES.map(({ name }) => name)), FILES];
  return OPERANDS[line.name] ?? (line.operands === undefined ? [NOTHING] : [FILES]);
}

async function completedFlag(name: string, flag: Flag<unknown>): Promise<CompletedFlag> {
  const short = flag.letter === undefined ? [] : [`-${flag.letter}`];
  return {
    spellings: [`--${name}`, ...short, ...flag.aliases.map((alias) => `--${alias}`)],
    help: flag.help,
    value: flag.kind === 'switch' ? null : await offerOf(name, flag),
    isList: flag.kind === 'list' || flag.placeholder === 'list',
  };
}

async function offerOf(name: string, flag: Flag<unknown>): Promise<Offer> {
  if (flag.kind === 'file') return FILES;
  if (Object.hasOwn(RESOURCE_FLAGS, name)) return { type: 'names', kind: RESOURCE_FLAGS[name]! };
  const known = await (flag.suggestions ?? flag.names)?.();
  return known === undefined ? NOTHING : words(...known);
}
