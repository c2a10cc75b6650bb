import { Composer, type Document, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, Parser } from 'yaml';
import type { InputError } from '../../../kernel/errors.js';
import { YamlPlaces } from '../../../schema/yaml-places.js';
import { badDocument } from '../errors.js';
import type { PlaceOf } from '../kind.js';
import {
  DOCUMENT_LIMITS,
  hostileValueProblem,
  refuseDeepText,
  refuseHostileYaml,
  tooManyValues,
} from './document-limits.js';
import { holdsMoreThan, JsonPlaces, repeatedKey } from './json-text.js';

/** A document as plain data with the places of its fields, or what keeps it from being read. */
export type ParsedDocument = { readonly value: unknown; readonly placeOf: PlaceOf } | { readonly problem: InputError };

/** `own`: a file of the user who runs this process, without limits; `foreign`: sent by others. */
export type DocumentOrigin = 'own' | 'foreign';

const HINT = 'write plain YAML or JSON';

/**
 * The documents of a text, one after the other: YAML, one JSON value, or one JSON value per line. Empty ones are left out.
 * JSON takes a fraction of the time.
 */
export function* parseDocuments(text: string, file: string, origin: DocumentOrigin): Generator<ParsedDocument> {
  if (/^\s*[{[]/.test(text)) {
    if (origin === 'foreign') refuseDeepText(text, file);
    const lines = jsonLines(text, file);
    if (lines !== null) {
      yield* lines;
      return;
    }
  }
  if (origin === 'foreign') refuseHostileYaml(text, file);
  yield* yamlDocuments(text, file);
}

/** Null when the text is neither one JSON value nor one per line. */
function jsonLines(text: string, file: string): Generator<ParsedDocument> | ParsedDocument[] | null {
  if (holdsMoreThan(text, DOCUMENT_LIMITS.nodes)) return [{ problem: tooManyValues(() => `${file}:1:1`) }];
  const whole = parsed(text);
  if (whole !== null) return [jsonDocument(text, whole.value, file, 0)];
  return isOnePerLine(text) ? eachLine(text, file) : null;
}

/** Whether each of several lines begins a JSON map, or is empty or a separator. */
function isOnePerLine(text: string): boolean {
  for (let start = 0, next = text.indexOf('\n'); start < text.length; next = text.indexOf('\n', start)) {
    const end = next === -1 ? text.length : next;
    const first = text.slice(start, Math.min(end, start + 4)).trimEnd();
    if (!first.startsWith('{') && first !== '' && first !== '---') return false;
    start = end + 1;
  }
  return true;
}

function* eachLine(text: string, file: string): Generator<ParsedDocument> {
  let line = 0;
  for (let start = 0; start < text.length; line++) {
    const next = text.indexOf('\n', start);
    const end = next === -1 ? text.length : next;
    const one = text.slice(start, end);
    start = end + 1;
    if (one.trim() === '' || one.trim() === '---') continue;
    if (line >= DOCUMENT_LIMITS.documents) {
      const problem = `holds more than ${DOCUMENT_LIMITS.documents} documents`;
      yield { problem: badDocument(`${file}:${line + 1}:1`, problem, 'send fewer at once') };
      return;
    }
    if (holdsMoreThan(one, DOCUMENT_LIMITS.nodes)) {
      const place = `${file}:${line + 1}:1`;
      yield { problem: tooManyValues(() => place) };
      continue;
    }
    const found = parsed(one);
    if (found === null)
      yield { problem: badDocument(`${file}:${line + 1}:1`, 'is not valid JSON', 'write one JSON document per line') };
    else yield jsonDocument(one, found.value, file, line);
  }
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** @param line of the text, from 0 */
function jsonDocument(text: string, value: unknown, file: string, line: number): ParsedDocument {
  const places = new JsonPlaces(text);
  const at = (offset: number, path = '') => {
    const [before, column] = places.lineAndColumn(offset);
    return `${file}:${line + before + 1}:${column + 1}${path === '' ? '' : ` (${path})`}`;
  };
  const placeOf: PlaceOf = (path) => at(places.offset(stepsOf(path)), path);
  const problem = hostileValueProblem(value, placeOf);
  if (problem !== null) return { problem };
  const twice = repeatedKey(text);
  return twice === null ? { value, placeOf } : { problem: badDocument(at(twice), 'Map keys must be unique', HINT) };
}

function* yamlDocuments(text: string, file: string): Generator<ParsedDocument> {
  const lines = new LineCounter();
  // Keys are compared here: the library compares each with all before it.
  const composer = new Composer({ lineCounter: lines, uniqueKeys: false, logLevel: 'error' });
  for (const document of composer.compose(new Parser(lines.addNewLine).parse(text), false, text.length)) {
    const places = new YamlPlaces(file, lines, document as Document);
    const syntax = document.errors[0];
    if (syntax !== undefined)
      yield { problem: badDocument(places.at(syntax.pos[0]), syntax.message.split(/ at line |\n/)[0]!, HINT) };
    else if (!isEmpty(document.contents)) yield yamlDocument(document as Document, places);
  }
}

function yamlDocument(document: Document, places: YamlPlaces): ParsedDocument {
  const placeOf: PlaceOf = (path) => placeIn(document, places, path);
  const bad = badKey(document.contents as Node);
  if (bad !== null) return { problem: badDocument(places.at(bad.offset), bad.problem, HINT) };
  try {
    const value: unknown = document.toJS({ maxAliasCount: DOCUMENT_LIMITS.aliases });
    const problem = hostileValueProblem(value, placeOf);
    return problem === null ? { value, placeOf } : { problem };
  } catch (error) {
    // An alias without its anchor, or one that would grow without end.
    if (!(error instanceof ReferenceError)) throw error;
    return { problem: badDocument(placeOf(''), error.message, HINT) };
  }
}

const isEmpty = (contents: Node | null) => contents === null || (isScalar(contents) && contents.value === null);

/** The first key that is not text, or that its map has twice. Recurses nowhere. */
function badKey(root: Node): { readonly offset: number; readonly problem: string } | null {
  const left: unknown[] = [root];
  while (left.length > 0) {
    const node = left.pop();
    if (isSeq(node)) for (let i = node.items.length - 1; i >= 0; i--) left.push(node.items[i]);
    if (!isMap(node)) continue;
    const keys = new Set<string>();
    for (const { key } of node.items as Pair<Node>[]) {
      if (isMap(key) || isSeq(key)) return { offset: key.range![0], problem: 'a key is a map or a list' };
      if (!isScalar(key)) continue;
      const name = String(key.value);
      if (keys.has(name)) return { offset: key.range![0], problem: 'Map keys must be unique' };
      keys.add(name);
    }
    for (let i = node.items.length - 1; i >= 0; i--) left.push(node.items[i]!.value);
  }
  return null;
}

/** A missing part has the place of its document, which need not be the first of the file. */
function placeIn({ contents }: Document, places: YamlPlaces, path: string): string {
  const first = /^[^.[]*/.exec(path)![0];
  return isMap(contents) && contents.has(first) ? places.of(path) : places.at(contents?.range?.[0] ?? 0, path);
}

const stepsOf = (path: string) => path.split(/[.[\]]+/).filter((part) => part !== '');
