import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readProblem } from '../../../files/file-problem.js';
import { decodeText } from '../../../files/text-encoding.js';
import { badValue } from '../../errors.js';
import type { Flag } from '../../flags/flag.js';
import { file } from '../../flags/kinds.js';
import type { CliIo } from '../../io.js';
import { noFiles } from '../errors.js';

const IS_OURS = /\.(?:ya?ml|json)$/;
const files: Flag<readonly string[]> = {
  ...file({ help: 'a file of resources, a folder of such files, or - for stdin; may be given several times' }),
  default: [],
  repeats: true,
  letter: 'f',
  read(given, place) {
    const paths = given.split('\n');
    if (paths.some((path) => path.trim() === '')) throw badValue(place, given, 'is empty', 'a path');
    return paths;
  },
};

export const fileFlags = { file: files };

/** The documents of some files as one text, and where a place in it really is. */
export interface CombinedFiles {
  /** JSON, one document per line: a server parses it far faster than YAML. */
  readonly text: string;
  /** `body:2:30 (spec)` as `chat.yaml:2:3 (spec)`. */
  placeIn(place: string): string;
}

/**
 * Reads what `--file` names. All of it is sent at once, so that all of it is done or nothing; what is not even YAML is found
 * before.
 */
export async function readFiles(paths: readonly string[], io: Pick<CliIo, 'stdin'>): Promise<CombinedFiles> {
  const { parseDocuments } = await import('../../../control/resources/documents/parse-documents.js');
  const names: string[] = [];
  const documents: { readonly value: unknown; readonly placeOf: (path: string) => string }[] = [];
  for (const path of paths.flatMap(filesAt)) {
    const text = (path === '-' ? await allOf(io.stdin()) : contentOf(path)).replace(/^\ufeff/, '').replace(/\n$/, '');
    names.push(path === '-' ? 'stdin' : path);
    for (const document of parseDocuments(text, names.at(-1)!, 'own')) {
      if ('problem' in document) throw document.problem;
      documents.push(document);
    }
  }
  return {
    text: `${documents.map(({ value }) => JSON.stringify(value, finite)).join('\n')}\n`,
    placeIn(place) {
      const match = /^body(?::(\d+):\d+)?(?: \((.*)\))?$/s.exec(place);
      if (match === null) return place;
      return documents[Number(match[1] ?? 0) - 1]?.placeOf(match[2] ?? '') ?? place.replace('body', names[0]!);
    },
  };
}

/** JSON has no infinite numbers: as text they are refused, where null might not be. */
const finite = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

function filesAt(path: string): string[] {
  if (path === '-' || !isFolder(path)) return [path];
  const names = readdirSync(path).filter((name) => IS_OURS.test(name));
  if (names.length === 0) throw noFiles(path);
  return names.sort().map((name) => join(path, name));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function contentOf(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw badValue('--file', path, readProblem(error), 'the path of a readable file');
  }
  return decodeText(bytes, path);
}

async function allOf(stdin: AsyncIterable<string | Uint8Array>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stdin) pieces.push(Buffer.from(piece as Uint8Array));
  return decodeText(Buffer.concat(pieces), 'standard input');
}
