import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull, writeProblem } from '../../files/file-problem.js';
import { makeFolder } from '../../files/make-folder.js';
import { replacePrivateFile } from '../../files/replace-file.js';
import { unusableAdminFile } from '../errors.js';

const OWNER_ONLY = 0o600;
const TOKEN = /^[\w-]{32,}$/;

/** The bytes of an admin token: 192 random bits. */
export function newAdminToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * The admin port's files in the data folder: the token, created once so that it stays valid over restarts, and the
 * address of the port while a gateway runs. Only their owner may read them.
 */
export class AdminFiles {
  readonly #folder: string;
  readonly #tokenPath: string;
  readonly #addressPath: string;
  /** The content of the address file, if this process wrote it. */
  #address = '';

  constructor(folder: string) {
    this.#tokenPath = join(folder, 'admin-token');
    this.#addressPath = join(folder, 'admin.json');
    this.#folder = folder;
  }

  /** Where the token is kept. */
  get tokenPath(): string {
    return this.#tokenPath;
  }

  /** The token of the installation; null if it has none yet. Changes nothing. */
  knownToken(): string | null {
    try {
      return this.#readToken();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw asUnusable(this.#tokenPath, error);
    }
  }

  /** The token of the installation, created if it has none. Processes that start at once get the same one. */
  token(): string {
    const path = this.#tokenPath;
    attempt(this.#folder, () => makeFolder(this.#folder));
    return attempt(path, () => {
      // Nothing is written for a token that exists: a full disk does not keep a gateway from starting again.
      const known = this.knownToken();
      if (known !== null) {
        chmodSync(path, OWNER_ONLY);
        return known;
      }
      const made = `${path}.${process.pid}`;
      writeFileSync(made, `${newAdminToken()}\n`, { mode: OWNER_ONLY });
      try {
        linkSync(made, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      } finally {
        rmSync(made);
      }
      const token = this.#readToken();
      chmodSync(path, OWNER_ONLY);
      return token;
    });
  }

  #readToken(): string {
    const token = readFileSync(this.#tokenPath, 'utf8').trim();
    if (!TOKEN.test(token)) throw unusableAdminFile(this.#tokenPath, 'holds no admin token');
    return token;
  }

  /** Publishes the address of the admin port and its token to programs on this machine. */
  tell(url: string, token: string): void {
    const path = this.#addressPath;
    const text = `${JSON.stringify({ url: reachable(url), token })}\n`;
    attempt(path, () => {
      if (contentOf(path) === text) chmodSync(path, OWNER_ONLY);
      else replacePrivateFile(path, text);
    });
    this.#address = text;
  }

  /** The port is closed: removes the file, unless another gateway has written it since. */
  withdraw(): void {
    if (this.#address === '') return;
    try {
      if (readFileSync(this.#addressPath, 'utf8') === this.#address) rmSync(this.#addressPath);
    } catch {
      // Already gone, or cannot be removed: a reader finds that nothing listens at that address.
    }
    this.#address = '';
  }
}

/** Null when it cannot be read. */
function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** A wildcard address is reached on this machine by loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function attempt<Value>(path: string, action: () => Value): Value {
  try {
    return action();
  } catch (error) {
    throw asUnusable(path, error);
  }
}

function asUnusable(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !/^E[A-Z]+$/.test(code)) return error;
  const problem = `cannot be used (${writeProblem(error)})`;
  return isDiskFull(error) ? unusableAdminFile(path, problem, 'free some space') : unusableAdminFile(path, problem);
}
