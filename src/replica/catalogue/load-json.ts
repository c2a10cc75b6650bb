import { readFileSync } from 'node:fs';
import { readProblem } from '../../files/file-problem.js';
import { decodeText } from '../../files/text-encoding.js';
import { fileNotReadable, invalidFileField, malformedJson } from '../errors.js';
import { findJsonError } from './find-json-error.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

export type JsonFields = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a JSON file whose top level is an object; what is wrong with it is named by file, line and column. */
export function loadJsonObject(file: string, { uniqueKeys = false } = {}): JsonFields {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw fileNotReadable(file, readProblem(error));
  }
  const text = decodeText(bytes, file);
  const value = parseJsonFile(text, file);
  const repeated = uniqueKeys ? findRepeatedKey(text) : undefined;
  if (repeated !== undefined) {
    const { line, column } = position(text, repeated.offset);
    throw malformedJson(file, line, column, `'${repeated.key}' appears twice`);
  }
  return value;
}

function position(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before[before.length - 1]!.length + 1 };
}

export function parseJsonFile(text: string, file: string): JsonFields {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const found = findJsonError(json) ?? { offset: 0, problem: (error as Error).message };
    const { line, column } = position(json, found.offset);
    throw malformedJson(file, line, column, found.problem);
  }
  if (!isJsonObject(value)) throw invalidFileField(file, 'top level', 'is not an object', 'a JSON object { ... }');
  return value;
}

/**
 * The first key that an object of a valid JSON text has twice, and where. `JSON.parse` keeps the last one in silence.
 */
export function findRepeatedKey(text: string): { key: string; offset: number } | undefined {
  /** Keys seen in each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  let last = { token: '', offset: 0 };
  for (const { 0: token, index: offset } of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const keys = open.at(-1)!;
      const key = JSON.parse(last.token) as string;
      if (keys!.has(key)) return { key, offset: last.offset };
      keys!.add(key);
    }
    last = { token, offset };
  }
  return undefined;
}
