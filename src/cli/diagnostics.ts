import { isDiskFull } from '../files/file-problem.js';
import { InputError, RunError } from '../kernel/errors.js';
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

/** Prints every line once: for variants that share most of their flags. */
export function saidOnce(diagnostics: Diagnostics): Diagnostics {
  const said = new Set<string>();
  const once = (say: (line: string) => void) => (line: string) => {
    if (!said.has(line)) say(line);
    said.add(line);
  };
  return { warn: once(diagnostics.warn), info: once(diagnostics.info), debug: once(diagnostics.debug) };
}

export function createDiagnostics(level: string, io: CliIo): Diagnostics {
  const heard = LOG_LEVELS.indexOf(level as (typeof LOG_LEVELS)[number]);
  const say = (label: (typeof LOG_LEVELS)[number], word: string) => (line: string) => {
    if (LOG_LEVELS.indexOf(label) <= heard) io.stderr.write(`twinyard: ${word}: ${line}\n`);
  };
  return { warn: say('warn', 'warning'), info: say('info', 'info'), debug: say('debug', 'debug') };
}

/**
 * A fault of a running server, for its log. What the system, the store or the network refused is one line, such as a full disk: it is
 * repeated as long as it lasts. Anything else is a bug and has its stack.
 */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const { code = '', errcode } = one as Error & { code?: unknown; errcode?: unknown };
    const isOurs = one instanceof InputError || one instanceof RunError;
    if (isOurs || /^E[A-Z0-9]+$/.test(String(code)) || errcode !== undefined) {
      return `${isDiskFull(one) ? 'disk full: ' : ''}${error.message.replace(/\p{Cc}+/gu, ' ')}`;
    }
  }
  return error.stack ?? error.message;
}
