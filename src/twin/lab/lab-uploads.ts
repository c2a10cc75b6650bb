import { createHash, randomBytes, webcrypto } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { uploadUnwritable } from './errors.js';
import { LAB_LIMITS } from './lab-question.js';

export interface LabUpload {
  /** The SHA-256 of its content. */
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

/** An upload of a workspace. */
export interface NamedUpload {
  readonly workspace: string;
  readonly id: string;
}

interface KeptUpload extends LabUpload {
  /** The folder of its workspace. */
  readonly owner: string;
  readonly path: string;
}

/** `SHA-256.name`. Anything else is being written or read, or was left behind by a process that was killed. */
const KEPT = /^([0-9a-f]{64})\.(.+)$/;

/** Of files that are no uploads: older ones were left behind. */
const LEFT_BEHIND_MS = 24 * 3600 * 1000;

/**
 * Files that experiments read, by their content: the latest of each workspace, also after the server was restarted or killed. Several
 * processes may use the folder: each may find that an upload is gone, and none takes what another one is writing or reading.
 */
export class LabUploads {
  readonly #folder: string;
  /** Oldest first; null before they are first needed. */
  #kept: KeptUpload[] | null = null;

  /** @param folder created with the first upload */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The oldest go as far as there are too many. @param inUse those that experiments need, which stay */
  async put(workspace: string, name: string, content: string, inUse: readonly NamedUpload[] = []): Promise<LabUpload> {
    const bytes = Buffer.from(content, 'utf8');
    // By the thread pool: a large file would hold up requests.
    const id = Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
    const owner = ownerOf(workspace);
    const kept = this.#all();
    const path = join(this.#folder, owner, `${id}.${name}`);
    const written = this.#temporaryPath();
    try {
      mkdirSync(join(this.#folder, owner), { recursive: true, mode: 0o700 });
      await writeFile(written, bytes, { mode: 0o600, flag: 'wx' });
      for (const same of kept.filter((one) => one.owner === owner && one.id === id)) this.#drop(same);
      renameSync(written, path);
    } catch (error) {
      throw uploadUnwritable(error);
    } finally {
      if (existsSync(written)) rmSync(written);
    }
    kept.push({ id, name, bytes: bytes.length, owner, path });
    const own = kept.filter((one) => one.owner === owner);
    const needed = new Set([`${owner} ${id}`, ...inUse.map((one) => `${ownerOf(one.workspace)} ${one.id}`)]);
    const isFree = (one: KeptUpload) => !needed.has(`${one.owner} ${one.id}`);
    for (const old of own.filter(isFree).slice(0, Math.max(0, own.length - LAB_LIMITS.uploads))) this.#drop(old);
    const others = kept.filter(isFree);
    for (const old of others.slice(0, Math.max(0, kept.length - LAB_LIMITS.allUploads))) this.#drop(old);
    return { id, name, bytes: bytes.length };
  }

  get(workspace: string, id: string): LabUpload | undefined {
    return this.#find(workspace, id);
  }

  /** The file under a second name, for an experiment that reads it while later uploads come. */
  hold(workspace: string, id: string): { path: string; release(): void } | undefined {
    const upload = this.#find(workspace, id);
    if (upload === undefined) return undefined;
    const path = this.#temporaryPath();
    try {
      linkSync(upload.path, path);
    } catch (error) {
      // Another process has deleted it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.#drop(upload);
      return undefined;
    }
    // One that is in use is not the next to go, in this process and the next.
    const all = this.#all();
    all.splice(all.indexOf(upload), 1);
    all.push(upload);
    const now = new Date();
    utimesSync(upload.path, now, now);
    return { path, release: () => rmSync(path, { force: true }) };
  }

  /** Deletes what a workspace has that has been removed. @param untilMs later files are of another one of that name */
  forget(workspace: string, untilMs: number): void {
    const owner = ownerOf(workspace);
    for (const one of this.#all().filter((upload) => upload.owner === owner)) {
      const at = statSync(one.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (at <= untilMs) this.#drop(one);
    }
  }

  #find(workspace: string, id: string): KeptUpload | undefined {
    const owner = ownerOf(workspace);
    const find = () => this.#all().find((one) => one.owner === owner && one.id === id);
    const found = find();
    if (found !== undefined && existsSync(found.path)) return found;
    // Another process may have put it there, or deleted it.
    this.#kept = null;
    return find();
  }

  #drop(upload: KeptUpload): void {
    const kept = this.#all();
    kept.splice(kept.indexOf(upload), 1);
    rmSync(upload.path, { force: true });
  }

  #temporaryPath(): string {
    return join(this.#folder, `part-${randomBytes(12).toString('hex')}`);
  }

  /** Those of an earlier process too. */
  #all(): KeptUpload[] {
    this.#kept ??= keptIn(this.#folder);
    return this.#kept;
  }
}

/** Names of workspaces are no file names. */
const ownerOf = (workspace: string) => createHash('sha256').update(workspace).digest('hex').slice(0, 32);

function keptIn(folder: string): KeptUpload[] {
  const found: (KeptUpload & { readonly atMs: number })[] = [];
  for (const owner of entriesOf(folder)) {
    if (!owner.isDirectory()) {
      removeLeftBehind(join(folder, owner.name));
      continue;
    }
    for (const { name: called } of entriesOf(join(folder, owner.name))) {
      const path = join(folder, owner.name, called);
      const [, id, name] = KEPT.exec(called) ?? [];
      const stats = statSync(path, { throwIfNoEntry: false });
      if (id === undefined) removeLeftBehind(path);
      else if (stats !== undefined)
        found.push({ id, name: name!, bytes: stats.size, owner: owner.name, path, atMs: stats.mtimeMs });
    }
  }
  return found.sort((one, other) => one.atMs - other.atMs).map(({ atMs: _, ...upload }) => upload);
}

function removeLeftBehind(path: string): void {
  const atMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - atMs > LEFT_BEHIND_MS) rmSync(path, { recursive: true, force: true });
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code!)) return [];
    throw error;
  }
}
