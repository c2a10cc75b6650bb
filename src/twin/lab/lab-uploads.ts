import { webcrypto } from 'node:crypto';
import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LAB_LIMITS } from './lab-question.js';

export interface LabUpload {
  /** The SHA-256 of its content. */
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

interface KeptUpload extends LabUpload {
  readonly workspace: string;
  readonly path: string;
}

/** Files that experiments read, by their content: the latest of each workspace, until the server stops. */
export class LabUploads {
  #folder: string | null = null;
  #files = 0;
  /** Oldest first. */
  readonly #kept: KeptUpload[] = [];

  async put(workspace: string, name: string, content: string): Promise<LabUpload> {
    const bytes = Buffer.from(content, 'utf8');
    // By the thread pool: a large file would hold up requests.
    const id = Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
    const path = this.#newPath();
    await writeFile(path, bytes, { mode: 0o600 });
    for (const same of this.#of(workspace).filter((one) => one.id === id)) this.#drop(same);
    this.#kept.push({ id, name, bytes: bytes.length, workspace, path });
    const own = this.#of(workspace);
    for (const old of own.slice(0, Math.max(0, own.length - LAB_LIMITS.uploads))) this.#drop(old);
    return { id, name, bytes: bytes.length };
  }

  get(workspace: string, id: string): LabUpload | undefined {
    return this.#of(workspace).find((one) => one.id === id);
  }

  /** The file under a second name, for an experiment that reads it while later uploads come. */
  hold(workspace: string, id: string): { path: string; release(): void } | undefined {
    const upload = this.#of(workspace).find((one) => one.id === id);
    if (upload === undefined) return undefined;
    const path = this.#newPath();
    linkSync(upload.path, path);
    return { path, release: () => rmSync(path, { force: true }) };
  }

  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = null;
    this.#kept.length = 0;
  }

  #of(workspace: string): KeptUpload[] {
    return this.#kept.filter((one) => one.workspace === workspace);
  }

  #drop(upload: KeptUpload): void {
    this.#kept.splice(this.#kept.indexOf(upload), 1);
    rmSync(upload.path, { force: true });
  }

  #newPath(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), `twinyard-lab-${process.pid}-`));
    return join(this.#folder, String(this.#files++));
  }
}
