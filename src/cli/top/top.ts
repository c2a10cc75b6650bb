import { setTimeout as delay } from 'node:timers/promises';
import { findServer } from '../api/find-server.js';
import { HttpTransport } from '../api/http-transport.js';
import { serverFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { untilStopped } from '../control/targets/until-stopped.js';
import type { CommandLine } from '../flags/command-line.js';
import { numberFlag, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import type { Reading } from './read-gateway.js';

const topFlags = {
  once: toggle({ help: 'print one frame and exit; so it does where the output is no terminal' }),
  interval: numberFlag({ default: 1, min: 0.1, max: 3600, placeholder: 's', help: 'seconds between two frames' }),
  workspace: {
    ...stringFlag({ default: null, placeholder: 'name', defaultText: 'all', help: 'only endpoints of this workspace' }),
    letter: 'n',
  },
};

export const TOP: CommandLine = {
  name: 'top',
  summary: summaryOf('top'),
  about:
    'Rates and times to the first token are those of the last 10 frames. The first frame, and the only one of --once, has them ' +
    'since the gateway started. Replicas that get no requests are listed first. Ctrl-C ends it.',
  groups: [
    { title: 'View', flags: topFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['top', 'top --once', 'top --server http://127.0.0.1:8081 --token "$TWINYARD_TOKEN"'],
};

/** Rates are over this many frames: long enough to be calm, short enough to follow. */
const WINDOW = 10;

/** The alternate screen without a cursor, as pagers use it: what the terminal showed before comes back. */
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';

/** Prints a frame, or one after the other until SIGINT or SIGTERM. */
export async function top(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof topFlags & typeof serverFlags>(TOP, argv);
  const transport = new HttpTransport(findServer(values, io));
  const [{ readGateway }, { frameLines }] = await Promise.all([import('./read-gateway.js'), import('./frame.js')]);
  const isLive = !values.once && io.stdout.isTTY === true;
  const stop = isLive ? untilStopped(io) : new AbortController().signal;
  const read = () => readGateway(transport, values.workspace, stop);
  let now: Reading;
  try {
    now = await read();
  } catch (error) {
    if (stop.aborted) return 0;
    throw error;
  }
  if (!isLive) {
    io.stdout.write(`${frameLines(null, now, presentation(io)).join('\n')}\n`);
    return 0;
  }
  const past: Reading[] = [];
  let problem: string | undefined;
  io.stdout.write(ENTER);
  try {
    while (!stop.aborted) {
      // A terminal that does not know its size reports 0 rows.
      const rows = io.stdout.rows || 24;
      const lines = frameLines(past[0] ?? null, now, { ...presentation(io), rows, problem }).slice(0, rows);
      // Drawn over the last frame, line by line: clearing the screen first would flicker.
      io.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`);
      await delay(values.interval * 1000, undefined, { signal: stop }).catch(() => {});
      try {
        const next = await read();
        past.push(now);
        if (past.length > WINDOW) past.shift();
        now = next;
        problem = undefined;
      } catch (error) {
        problem = (error as Error).message;
      }
    }
  } finally {
    io.stdout.write(LEAVE);
  }
  return 0;
}
