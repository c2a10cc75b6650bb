import type { CliIo } from './io.js';
import { main } from './program.js';

/** How a command ended and what it wrote. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Terminal {
  isTTY?: boolean;
  columns?: number | undefined;
  /** What the command reads: a text, or the pieces in which it comes. */
  stdin?: string | readonly (string | Uint8Array)[];
  env?: CliIo['env'];
  /** Resolves when a command that runs until it is stopped has to stop. */
  stopped?: Promise<void>;
}

/** The environment of a command that records what it writes. */
export function testIo({
  isTTY = false,
  columns,
  stdin = [],
  env = {},
  stopped = Promise.resolve(),
}: Terminal = {}): CliIo & {
  stdoutText(): string;
  stderrText(): string;
} {
  let out = '';
  let err = '';
  return {
    stdout: { isTTY, ...(columns === undefined ? {} : { columns }), write: (text) => (out += text) },
    stderr: { isTTY, write: (text) => (err += text) },
    async *stdin() {
      yield* typeof stdin === 'string' ? [stdin] : stdin;
    },
    env,
    now: () => 0,
    beforeSignal: () => {},
    untilStopped: () => stopped,
    self: ['twinyard'],
    onHangUp: () => {},
    stdoutText: () => out,
    stderrText: () => err,
  };
}

/** Runs a command line inside this process and keeps what it writes. */
export async function captured(args: string | readonly string[], terminal: Terminal = {}): Promise<Ended> {
  const io = testIo(terminal);
  const argv = typeof args === 'string' ? args.split(' ').filter((part) => part !== '') : args;
  const code = await main(argv, io);
  return { code, stdout: io.stdoutText(), stderr: io.stderrText() };
}

/** The command lines below `Examples:` in a help text, without the program's name. */
export function examplesIn(help: string): string[] {
  const text = help.slice(help.indexOf('Examples:')).replace(/ \\\n */g, ' ');
  return text.match(/(?<=twinyard ).*/g)!;
}
