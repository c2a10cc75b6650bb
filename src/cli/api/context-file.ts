import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readProblem } from '../../files/file-problem.js';
import type { CliIo } from '../io.js';
import { badContextFile, noContextFile, unknownContext, unwritableContexts } from './errors.js';

/** A server under a name, and the default workspace there. Every part may be absent. */
export interface Context {
  readonly server?: string;
  readonly token?: string;
  readonly workspace?: string;
}

export interface ContextFile {
  /** The context that commands use; null for none. */
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Context>>;
}

type Env = CliIo['env'];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const PARTS = ['server', 'token', 'workspace'];

export const isContextName = (given: string) => NAME.test(given);

/** `$TWINYARD_CONTEXTS`, else `twinyard/contexts.json` in the user's configuration folder; null where there is none. */
export function contextPath({ HOME, TWINYARD_CONTEXTS, XDG_CONFIG_HOME }: Env): string | null {
  if (TWINYARD_CONTEXTS) return TWINYARD_CONTEXTS;
  const folder = XDG_CONFIG_HOME || (HOME ? join(HOME, '.config') : null);
  return folder === null ? null : join(folder, 'twinyard', 'contexts.json');
}

export function readContexts(env: Env): ContextFile {
  const path = contextPath(env);
  const none = { current: null, contexts: {} };
  if (path === null) return none;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return none;
    throw badContextFile(path, readProblem(error));
  }
  try {
    const file = JSON.parse(text) as ContextFile;
    if (isContextFile(file)) return file;
  } catch {
    // Reported below, without the text: it holds tokens.
  }
  throw badContextFile(path, 'is not a file of contexts');
}

/** Readable by its owner alone, and replaced as a whole: an interrupted command leaves the file as it was. */
export function writeContexts(env: Env, file: ContextFile): void {
  const path = contextPath(env);
  if (path === null) throw noContextFile();
  const next = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(next, { force: true });
    writeFileSync(next, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(next, 0o600);
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw unwritableContexts(path, readProblem(error));
  }
}

/** @param place where the name was given, for messages */
export function contextNamed({ contexts }: ContextFile, name: string, place: string): Context {
  if (!Object.hasOwn(contexts, name)) throw unknownContext(place, name, Object.keys(contexts));
  return contexts[name]!;
}

function isContextFile(file: unknown): file is ContextFile {
  const { contexts, current } = (file ?? {}) as { contexts?: unknown; current?: unknown };
  if (!isMap(contexts) || (current !== null && typeof current !== 'string')) return false;
  return Object.values(contexts).every(
    (one) => isMap(one) && PARTS.every((part) => one[part] === undefined || typeof one[part] === 'string'),
  );
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
