import { CommanderError } from 'commander';
import {
  badChoice,
  missingOperand,
  missingValue,
  repeatedFlag,
  unexpectedArgument,
  unexpectedValue,
  unknownFlag,
} from '../errors.js';
import { type CommandLine, commanderCommand, flagsOf } from './command-line.js';
import type { FlagTable, FlagValues } from './flag.js';
import { HelpRequest } from './help-request.js';

function asksForHelp(argv: readonly string[]): boolean {
  return argv.includes('--help') || argv.includes('-h');
}

/**
 * Reads the arguments of a command. Throws a HelpRequest if `--help` is among them, and an InputError that names the flag for the
 * first thing that is wrong with them.
 */
export async function parseFlags<Table extends FlagTable>(
  line: CommandLine,
  argv: readonly string[],
): Promise<FlagValues<Table>> {
  if (asksForHelp(argv)) throw new HelpRequest(line);
  const flags = flagsOf(line);
  const { texts, operands } = readTexts(line, flags, argv);
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const text = texts.get(name);
    values[name] = text === undefined ? flag.default : flag.read(text, `--${name}`);
  }
  await checkRegisteredNames(flags, texts);
  if (operands.length < (line.operands?.least ?? 0)) throw missingOperand(line.name, line.operands!.usage);
  return { values: values as FlagValues<Table>['values'], operands, given: (name) => texts.has(name) };
}

async function checkRegisteredNames(flags: FlagTable, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of texts) {
    const known = await flags[name]!.names?.();
    if (known !== undefined && !known.includes(text)) throw badChoice(`--${name}`, text, known);
  }
}

interface Typed {
  /** By the flag's main name; a switch has the empty text. */
  texts: Map<string, string>;
  operands: string[];
}

function readTexts(line: CommandLine, flags: FlagTable, argv: readonly string[]): Typed {
  const command = commanderCommand(line);
  const texts = new Map<string, string>();
  const mainNames = new Map<string, string>();
  for (const [name, flag] of Object.entries(flags)) {
    if (flag.letter !== undefined) mainNames.set(`-${flag.letter}`, name);
    for (const spelling of [name, ...flag.aliases]) {
      mainNames.set(`--${spelling}`, name);
      command.on(`option:${spelling}`, (value: string | null | undefined) => {
        const text = value ?? '';
        // The next flag is not a value: `--model --rate` lacks one.
        if (text.startsWith('--')) throw missingValue(`--${spelling}`, flag.accepted);
        const before = texts.get(name);
        if (flag.repeats && before !== undefined) {
          texts.set(name, `${before}\n${text}`);
          return;
        }
        if (before !== undefined && before !== text) throw repeatedFlag(`--${spelling}`, before, text);
        texts.set(name, text);
      });
    }
  }
  try {
    const { operands, unknown } = command.parseOptions([...argv]);
    const stray = operands[line.operands?.most ?? 0] ?? unknown[0];
    if (stray !== undefined) throw strayArgument(stray, line, flags, mainNames);
    return { texts, operands };
  } catch (error) {
    // The only error of commander itself: the last argument is a flag without its value.
    if (!(error instanceof CommanderError)) throw error;
    const last = argv.at(-1)!;
    throw missingValue(last, flags[mainNames.get(last) ?? '']?.accepted ?? 'a value');
  }
}

function strayArgument(
  stray: string,
  line: CommandLine,
  flags: FlagTable,
  mainNames: ReadonlyMap<string, string>,
): Error {
  if (!stray.startsWith('-') || stray === '-') return unexpectedArgument(stray, line.name, line.operands?.usage);
  const at = stray.indexOf('=');
  if (at > 0 && mainNames.has(stray.slice(0, at))) return unexpectedValue(stray.slice(0, at), stray.slice(at + 1));
  return unknownFlag(
    stray,
    line.name,
    Object.keys(flags).map((name) => `--${name}`),
  );
}
