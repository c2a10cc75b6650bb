import { InputError, RunError } from '../kernel/errors.js';
import { COMMANDS } from './commands.js';
import { noCommand, unknownCommand, unknownFlag } from './errors.js';
import type { CliIo } from './io.js';

/** The whole program: runs what the arguments ask for and returns the exit code. Never throws, never ends the process. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    return report(error, io);
  }
}

async function dispatch(argv: readonly string[], io: CliIo): Promise<number> {
  const [name, ...rest] = argv;
  const names = COMMANDS.map((command) => command.name);
  if (name === undefined) throw noCommand(names);
  if (name === '--help' || name === '-h' || name === 'help') return printHelp(rest, io);
  if (name === '--version' || name === '-V') return dispatch(['version', ...rest], io);
  if (name.startsWith('-')) throw unknownFlag(name, '', ['--help', '--version']);
  const command = COMMANDS.find((entry) => entry.name === name);
  if (command === undefined) throw unknownCommand(name, names);
  const action = await command.load();
  return action(rest, io);
}

async function printHelp(rest: readonly string[], io: CliIo): Promise<number> {
  if (rest[0] !== undefined) return dispatch([rest[0], '--help'], io);
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const list = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
  const intro =
    'Usage: twinyard <command> [flags]\n\nDecides where LLM requests go, and predicts what that does to a fleet.';
  io.stdout.write(`${intro}\n\nCommands:\n${list}\n'twinyard <command> --help' lists the flags of a command.\n`);
  return 0;
}

/** One line on stderr; 2 when the input was wrong, 1 when the work failed. */
function report(error: unknown, io: CliIo): number {
  const say = (line: string) => io.stderr.write(`twinyard: ${line.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}\n`);
  if (error instanceof InputError) {
    say(error.message);
    return 2;
  }
  if (error instanceof RunError) {
    say(error.message);
    return 1;
  }
  if (isOutOfMemory(error)) {
    say('not enough memory for this run; try fewer requests, instances or KV blocks');
    return 1;
  }
  const message = error instanceof Error ? error.message : String(error);
  say(`${message} (this is a bug; TWINYARD_DEBUG=1 shows where)`);
  if (io.env.TWINYARD_DEBUG === '1' && error instanceof Error) io.stderr.write(`${error.stack}\n`);
  return 1;
}

/** How the language says that a column or a text cannot be allocated. */
function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof RangeError && /allocation failed|Invalid (typed )?array length|string length/.test(error.message)
  );
}
