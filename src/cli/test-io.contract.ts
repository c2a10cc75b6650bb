import type { CliIo } from './io.js';
import { main } from './program.js';

/** How a command ended and what it wrote. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Terminal {
  isTTY?: boolean;
  env?: CliIo['env'];
}

/** A command's surroundings that keep what it writes. */
export function testIo({ isTTY = false, env = {} }: Terminal = {}): CliIo & {
  stdoutText(): string;
  stderrText(): string;
} {
  let out = '';
  let err = '';
  return {
    stdout: { isTTY, write: (text) => (out += text) },
    stderr: { isTTY, write: (text) => (err += text) },
    env,
    now: () => 0,
    beforeSignal: () => {},
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
