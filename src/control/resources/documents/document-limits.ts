import type { InputError } from '../../../kernel/errors.js';
import { hostileDocument, invalidField } from '../errors.js';
import type { PlaceOf } from '../kind.js';

/**
 * Limits of documents that are parsed by a server. They bound the time of one document: documents of one text are read
 * in several turns of the event loop.
 */
export const DOCUMENT_LIMITS = {
  /** Documents of one text. */
  documents: 2000,
  /** Nested maps and lists. */
  levels: 100,
  /** Values of one document, those repeated by aliases included. */
  nodes: 10_000,
  /** Lines, keys, list entries and the like of a YAML document: its parser takes tens of microseconds for each. */
  marks: 2000,
  /** Characters of a key: places and messages repeat it. */
  keyLength: 512,
  anchors: 100,
  aliases: 100,
  /** Characters of a YAML document. */
  yamlLength: 256 * 1024,
} as const;

const JSON_HINT = "send JSON, as 'twinyard apply' does";
const [LF, SPACE, HASH, AMPERSAND, STAR, COMMA, DASH, COLON, QUESTION, BANG, PERCENT] = [
  ...[0x0a, 0x20, 0x23, 0x26, 0x2a, 0x2c, 0x2d, 0x3a, 0x3f, 0x21, 0x25],
] as const;

/** Throws unless maps and lists are nested within limits. Brackets inside text count as well. */
export function refuseDeepText(text: string, place: string): void {
  let level = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) level++;
    else if (code === 0x5d || code === 0x7d) level = Math.max(0, level - 1);
    if (level > DOCUMENT_LIMITS.levels) throw tooDeep(place);
  }
}

/**
 * Throws when a YAML text would take its parser too long: a scan without any structure, which counts at least what the
 * parser would find. A line that starts with `---` begins a document wherever it stands.
 */
export function refuseHostileYaml(text: string, place: string): void {
  const limits = DOCUMENT_LIMITS;
  refuseDeepText(text, place);
  let [documents, marks, anchors, aliases, start] = [1, 0, 0, 0, 0];
  let indents: number[] = [];
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('---', at) || text.startsWith('...', at)) {
      [marks, anchors, aliases, start, indents] = [0, 0, 0, at, []];
      if (++documents > limits.documents) throw tooMany(place, 'documents', limits.documents);
    }
    const end = endOf(text, at);
    const found = marksOfLine(text, at, end);
    marks += found.marks;
    anchors += found.anchors;
    aliases += found.aliases;
    if (!found.isBlank) {
      while (indents.length > 0 && indents.at(-1)! >= found.indent) indents.pop();
      indents.push(found.indent);
      if (indents.length + found.compact > limits.levels) throw tooDeep(place);
    }
    if (anchors > limits.anchors) throw tooMany(place, 'anchors', limits.anchors);
    if (aliases > limits.aliases) throw tooMany(place, 'aliases', limits.aliases);
    if (marks > limits.marks) throw tooMany(place, 'lines, keys and list entries in a document', limits.marks);
    if (end - start > limits.yamlLength) throw tooMany(place, 'characters in a document', limits.yamlLength);
    at = end;
  }
}

/** The start of the next line. */
function endOf(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

interface LineMarks {
  readonly marks: number;
  readonly anchors: number;
  readonly aliases: number;
  readonly indent: number;
  /** Collections that begin on this line, as in `- - a`. */
  readonly compact: number;
  readonly isBlank: boolean;
}

function marksOfLine(text: string, start: number, end: number): LineMarks {
  let [marks, anchors, aliases, compact] = [1, 0, 0, 0];
  let indent = start;
  while (indent < end && text.charCodeAt(indent) === SPACE) indent++;
  let isStart = true;
  for (let i = indent; i < end; i++) {
    const code = text.charCodeAt(i);
    const isFree = i === start || isSeparator(text.charCodeAt(i - 1));
    const isAlone = i + 1 >= end || text.charCodeAt(i + 1) <= SPACE;
    if (isMark(code, isFree, isAlone)) marks++;
    if (isFree && !isAlone && code === AMPERSAND && text.charCodeAt(i + 1) !== AMPERSAND) anchors++;
    if (isFree && !isAlone && code === STAR && text.charCodeAt(i + 1) !== STAR) aliases++;
    if (isStart && isAlone && (code === DASH || code === QUESTION || code === COLON)) compact++;
    else if (code > SPACE) isStart = false;
  }
  const first = text.charCodeAt(indent);
  const isBlank = indent >= end || first === LF || first === 0x0d || first === HASH;
  return { marks, anchors, aliases, compact, isBlank, indent: indent - start };
}

/** What may begin or end a token of YAML. */
function isMark(code: number, isFree: boolean, isAlone: boolean): boolean {
  if (code === COMMA || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d) return true;
  if (code === COLON) return isAlone || isFree;
  if (code === DASH || code === QUESTION) return isAlone && isFree;
  if (code === 0x22 || code === 0x27) return isFree;
  if (code === BANG || code === 0x5c) return true;
  return isFree && (code === AMPERSAND || code === STAR || code === HASH || code === PERCENT);
}

/** A quote may end one token before the next. */
const isSeparator = (code: number) =>
  code <= SPACE ||
  code === COMMA ||
  code === COLON ||
  code === 0x22 ||
  code === 0x27 ||
  code === 0x5b ||
  code === 0x5d ||
  code === 0x7b ||
  code === 0x7d;

/** Names that every object has: a map with one of them would lose it, or change others. */
const RESERVED = new Set(['__proto__', 'prototype', 'constructor']);

/** Problems of a value that no schema should meet: too many nodes, too deep, reserved names. Recurses nowhere. */
export function hostileValueProblem(value: unknown, placeOf: PlaceOf): InputError | null {
  const { keyLength, levels, nodes } = DOCUMENT_LIMITS;
  const left: { readonly value: unknown; readonly path: string; readonly level: number }[] = [
    { value, path: '', level: 0 },
  ];
  for (let count = 1; left.length > 0; count++) {
    const one = left.pop()!;
    if (count > nodes) return tooManyValues(placeOf);
    if (one.level > levels) return tooDeep(placeOf(''));
    if (typeof one.value !== 'object' || one.value === null) continue;
    const isList = Array.isArray(one.value);
    // A long list is refused before its keys are listed.
    if (isList && one.value.length > nodes) return tooManyValues(placeOf);
    const keys = Object.keys(one.value);
    if (count + left.length + keys.length > nodes) return tooManyValues(placeOf);
    for (const key of keys) {
      if (key.length > keyLength) return tooLongKey(placeOf(one.path));
      const path = isList ? `${one.path}[${key}]` : one.path === '' ? key : `${one.path}.${key}`;
      if (!isList && RESERVED.has(key))
        return invalidField(placeOf(path), `'${key}' is a reserved name`, 'choose another name');
      left.push({ value: (one.value as Record<string, unknown>)[key], path, level: one.level + 1 });
    }
  }
  return null;
}

const tooMany = (place: string, things: string, most: number, hint = JSON_HINT) =>
  hostileDocument(place, `holds more than ${most} ${things}`, hint);

export const tooManyValues = (placeOf: PlaceOf) =>
  tooMany(placeOf(''), 'values', DOCUMENT_LIMITS.nodes, 'split it into several resources');

const tooLongKey = (place: string) =>
  hostileDocument(place, `has a key of more than ${DOCUMENT_LIMITS.keyLength} characters`, 'choose a shorter name');

const tooDeep = (place: string) =>
  hostileDocument(place, `is nested deeper than ${DOCUMENT_LIMITS.levels} levels`, 'send a flatter document');
