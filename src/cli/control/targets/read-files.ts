import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readProblem } from '../../../files/file-problem.js';
import { decodeText } from '../../../files/text-encoding.js';
import { badValue } from '../../errors.js';
import type { Flag } from '../../flags/flag.js';
import { file } from '../../flags/kinds.js';
import type { CliIo } from '../../io.js';
import { badSyntax, noFiles } from '../errors.js';

const IS_OURS = /\.(?:ya?ml|json)$/;
const BETWEEN = '\n---\n';

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

/** The texts of some files as one, and where a place in it really is. */
export interface CombinedFiles {
  readonly text: string;
  /** `body:7:3 (spec)` as `chat.yaml:2:3 (spec)`. */
  placeIn(place: string): string;
}

/**
 * Reads what `--file` names. All of it is sent at once, so that all of it is done or nothing; what is not even YAML is found
 * before, because it would garble what follows.
 */
export async function readFiles(paths: readonly string[], io: Pick<CliIo, 'stdin'>): Promise<CombinedFiles> {
  const read: { readonly path: string; readonly text: string }[] = [];
  for (const path of paths.flatMap(filesAt)) {
    const text = path === '-' ? await allOf(io.stdin()) : contentOf(path);
    read.push({ path: path === '-' ? 'stdin' : path, text: text.replace(/^\ufeff/, '').replace(/\n$/, '') });
  }
  for (const { path, text } of read) await checkSyntax(path, text);
  return { text: `${read.map(({ text }) => text).join(BETWEEN)}\n`, placeIn: (place) => placeAmong(read, place) };
}

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

async function checkSyntax(path: string, text: string): Promise<void> {
  const { LineCounter, parseAllDocuments } = await import('yaml');
  const lineCounter = new LineCounter();
  for (const { errors } of parseAllDocuments(text, { lineCounter })) {
    if (errors[0] === undefined) continue;
    const { col, line } = lineCounter.linePos(errors[0].pos[0]);
    throw badSyntax(`${path}:${line}:${col}`, errors[0].message.split(/ at line |\n/)[0]!);
  }
}

function placeAmong(read: readonly { readonly path: string; readonly text: string }[], place: string): string {
  const match = /^body(?::(\d+))?(.*)$/s.exec(place);
  if (match === null) return place;
  let line = Number(match[1] ?? 1);
  for (const { path, text } of read) {
    const lines = text.split('\n').length;
    if (line <= lines) return match[1] === undefined ? `${path}${match[2]}` : `${path}:${line}${match[2]}`;
    line -= lines + 1;
  }
  return place;
}
