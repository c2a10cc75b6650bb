import { readFileSync } from 'node:fs';
import { fileNotReadable, invalidField, malformedJson } from '../errors.js';
import { findJsonError } from './find-json-error.js';

export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a JSON file whose top level is an object; what is wrong with it is named by file, line and column. */
export function loadJsonObject(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw fileNotReadable(file, (error as NodeJS.ErrnoException).code ?? String(error));
  }
  return parseJsonObject(text, file);
}

export function parseJsonObject(text: string, file: string): JsonObject {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const found = findJsonError(json) ?? { offset: 0, problem: (error as Error).message };
    const before = json.slice(0, found.offset).split('\n');
    throw malformedJson(file, before.length, before[before.length - 1]!.length + 1, found.problem);
  }
  if (!isJsonObject(value)) throw invalidField(file, 'top level', 'is not an object', 'a JSON object { ... }');
  return value;
}
