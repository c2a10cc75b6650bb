import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCollection, isScalar, parseDocument } from 'yaml';
import { InputError } from '../../kernel/errors.js';
import { readInputFile } from '../../workload/input-file.js';
import type { Settings } from '../compare/settings.js';

/** Flags that name a YAML file whose keys may be axes. Its content becomes part of the run: the file itself is not needed later. */
const FILE_FLAGS = ['policy-config', 'workload-spec'];

/** `policy-config:routing.policy` as the flag of the file and the keys that lead to the value; null for any other name. */
export function fileKeyOf(name: string): { flag: string; path: readonly (string | number)[] } | null {
  const colon = name.indexOf(':');
  const flag = name.slice(0, colon);
  if (colon < 0 || !FILE_FLAGS.includes(flag)) return null;
  const path = name.slice(colon + 1).split('.');
  return { flag, path: path.map((key) => (/^\d+$/.test(key) ? Number(key) : key)) };
}

/** Copies of files with other values under some of their keys, while points are resolved. */
export class FileKeys {
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinyard-sweep-'));
  readonly #texts = new Map<string, Promise<string>>();
  readonly #originals = new Map<string, string>();
  #count = 0;

  /** The settings with every file key written into a copy of its file. */
  async applied(
    settings: Settings,
    keys: readonly { name: string; value: string; place: string }[],
  ): Promise<Settings> {
    const changed = new Map(settings);
    for (const { name, place, value } of keys) {
      const { flag, path } = fileKeyOf(name)!;
      const file = changed.get(flag);
      if (file === undefined) {
        throw new InputError('BAD_AXIS', place, `is a key of a file, and --${flag} names none`, `add --${flag} <file>`);
      }
      const document = parseDocument(await this.#textOf(file.text));
      const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
      if (!isCollection(parent) || (typeof path.at(-1) === 'number' && !parent.has(path.at(-1)))) {
        const hint = 'give keys and places in lists with dots between them, as the file has them';
        throw new InputError('BAD_AXIS', place, `${this.originalOf(file.text)} has no such key`, hint);
      }
      document.setIn(path, scalar(value));
      const copy = join(this.#folder, `${this.#count++}.yaml`);
      writeFileSync(copy, String(document), { mode: 0o600 });
      this.#originals.set(copy, this.originalOf(file.text));
      changed.set(flag, { ...file, text: copy });
    }
    return changed;
  }

  /** The file that a copy was made from; the path itself for any other. */
  originalOf(path: string): string {
    return this.#originals.get(path) ?? path;
  }

  /** An error about a copy names the file. */
  renamed(error: InputError): InputError {
    const place = error.place.replace(new RegExp(`${this.#folder}/\\d+\\.yaml`), (copy) => this.originalOf(copy));
    return place === error.place ? error : new InputError(error.code, place, error.problem, error.hint);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Copies are read from disk as the files are. */
  #textOf(path: string): Promise<string> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const text = readInputFile(path).then((bytes) => bytes.toString('utf8'));
    if (!this.#originals.has(path)) this.#texts.set(path, text);
    return text;
  }
}

/** A value as YAML reads it: 0.5 is a number, true a boolean. */
function scalar(text: string): unknown {
  const { contents } = parseDocument(text);
  return isScalar(contents) ? contents.value : text;
}
