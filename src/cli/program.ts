import { InputError, RunError } from '../kernel/errors.js';
import { COMMANDS } from './commands.js';
import { unknownCommand, unknownFlag } from './errors.js';
import { HelpRequest } from './flags/help-request.js';
import { type CliIo, textWidth } from './io.js';

/** Runs the command that the arguments name and returns the exit code. Never throws, never ends the process. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    return report(error, io);
  }
}

async function dispatch(argv: readonly string[], io: CliIo): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return printHelp(rest, io);
  if (name === '--version' || name === '-v') return dispatch(['version', ...rest], io);
  if (name.startsWith('-')) throw unknownFlag(name, '', ['--help', '--version']);
  const command = COMMANDS.find((entry) => entry.name === name);
  if (command === undefined) {
    throw unknownCommand(
      name,
      COMMANDS.map((entry) => entry.name),
    );
  }
  const action = await command.load();
  try {
    return await action(rest, io);
  } catch (error) {
    if (!(error instanceof HelpRequest)) throw error;
    const { helpText } = await import('./help/help-text.js');
    io.stdout.write(await helpText(error.line, textWidth(io.stdout, io.env)));
    return 0;
  }
}

async function printHelp(rest: readonly string[], io: CliIo): Promise<number> {
  if (rest[0] !== undefined) return dispatch([...rest, '--help'], io);
  const { programHelp } = await import('./help/overview.js');
  io.stdout.write(programHelp(textWidth(io.stdout, io.env)));
  return 0;
}

/** One line on stderr; 2 for wrong input, 1 when the work failed. */
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
    say('out of memory: use fewer requests, replicas or KV blocks');
    return 1;
  }
  const message = error instanceof Error ? error.message : String(error);
  say(`internal error: ${message}; this is a bug, TWINYARD_DEBUG=1 prints the stack`);
  if (io.env.TWINYARD_DEBUG === '1' && error instanceof Error) io.stderr.write(`${error.stack}\n`);
  return 1;
}

/** V8's messages for a column or a text that cannot be allocated. */
function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof RangeError && /allocation failed|Invalid (typed )?array length|string length/.test(error.message)
  );
}
