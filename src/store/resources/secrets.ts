import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { writeProblem } from '../../files/file-problem.js';
import { makeFolder } from '../../files/make-folder.js';
import { badKeyFile, brokenSecret, otherKeyFile } from './resource-errors.js';

/** A text that only the key file can decrypt. It replaces the text in JSON. */
export interface Sealed {
  readonly $sealed: string;
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SHOWN = '***';

/** Seals and unseals with AES-256-GCM and the key of a file. Its errors never hold a secret. */
export class SecretBox {
  readonly #key: Buffer;
  /** Distinguishes keys; it is part of everything sealed. */
  readonly id: string;

  private constructor(
    private readonly path: string,
    key: Buffer,
  ) {
    this.#key = key;
    this.id = createHash('sha256').update(key).digest('hex').slice(0, 8);
  }

  /** Opens the key file, and creates it if it is missing: processes that start at the same time get the same key. */
  static open(path: string): SecretBox {
    try {
      return new SecretBox(path, readKey(path) ?? makeKey(path));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined || code.startsWith('SECRETS_')) throw error;
      throw badKeyFile(
        path,
        `cannot be used (${writeProblem(error)})`,
        'choose a file that this program may read and write',
      );
    }
  }

  /** @param place what the secret belongs to: sealed for one place, it cannot be unsealed at another */
  seal(text: string, place: string): Sealed {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { $sealed: `v1.${this.id}.${sealed.toString('base64url')}` };
  }

  unseal({ $sealed }: Sealed, place: string): string {
    const [version, id, data = ''] = $sealed.split('.');
    if (version !== 'v1' || id === undefined) throw brokenSecret(place);
    if (id !== this.id) throw otherKeyFile(this.path);
    const bytes = Buffer.from(data, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) throw brokenSecret(place);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw brokenSecret(place);
    }
  }

  /** Whether this text was sealed there. False if it cannot be unsealed. */
  holds(sealed: Sealed, text: string, place: string): boolean {
    try {
      return this.unseal(sealed, place) === text;
    } catch (error) {
      if (!(error as NodeJS.ErrnoException).code?.startsWith('SECRETS_')) throw error;
      return false;
    }
  }
}

export function isSealed(value: unknown): value is Sealed {
  return typeof value === 'object' && value !== null && typeof (value as Sealed).$sealed === 'string';
}

/** The same JSON with stars for everything sealed. */
export function withoutSealed<Value>(value: Value): Value {
  if (isSealed(value)) return SHOWN as Value;
  if (Array.isArray(value)) return value.map(withoutSealed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSealed(inner)])) as Value;
}

function readKey(path: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
    if ((statSync(path).mode & 0o077) !== 0) {
      throw badKeyFile(
        path,
        'others may read it',
        `run 'chmod 600 ${path}', and change the secrets if others have read them`,
      );
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text)) throw badKeyFile(path, 'holds no key', 'restore the original file');
  return Buffer.from(text.trim(), 'hex');
}

/** Written under another name first, so that a partial key is never visible; the first process to rename it wins. */
function makeKey(path: string): Buffer {
  makeFolder(dirname(path));
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    fchmodSync(file, 0o600);
    writeSync(file, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
    fsyncSync(file);
    linkSync(draft, path);
    const folder = openSync(dirname(path), 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(file);
    unlinkSync(draft);
  }
  return readKey(path)!;
}
