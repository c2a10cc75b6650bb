import type { CliIo } from './io.js';
import { main } from './program.js';

/** How a command ended and what it wrote. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line inside this process and keeps what it writes: for tests, and for whoever embeds the program. */
export async function captured(
  args: string | readonly string[],
  terminal: { isTTY?: boolean; env?: CliIo['env'] } = {},
): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY: terminal.isTTY ?? false,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const argv = typeof args === 'string' ? args.split(' ').filter((part) => part !== '') : args;
  const code = await main(argv, {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: terminal.env ?? {},
    now: () => 0,
    beforeSignal: () => {},
  });
  return { code, ...written };
}
