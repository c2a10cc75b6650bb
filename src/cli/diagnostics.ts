import { LOG_LEVELS } from './flags/output-flags.js';
import type { CliIo } from './io.js';

/** Messages on stderr, filtered by `--log`. */
export interface Diagnostics {
  warn(line: string): void;
  info(line: string): void;
  debug(line: string): void;
}

/** Prints nothing: for work whose messages have been printed before. */
export const SILENT: Diagnostics = { warn: () => {}, info: () => {}, debug: () => {} };

export function createDiagnostics(level: string, io: CliIo): Diagnostics {
  const heard = LOG_LEVELS.indexOf(level as (typeof LOG_LEVELS)[number]);
  const say = (label: (typeof LOG_LEVELS)[number], word: string) => (line: string) => {
    if (LOG_LEVELS.indexOf(label) <= heard) io.stderr.write(`twinyard: ${word}: ${line}\n`);
  };
  return { warn: say('warn', 'warning'), info: say('info', 'info'), debug: say('debug', 'debug') };
}
