import { type Document, LineCounter, parseDocument } from 'yaml';
import { readSchema, type YamlErrors } from './read-schema.js';
import type { Kind } from './schema.js';
import { YamlPlaces } from './yaml-places.js';

/** A YAML file of one document, and where things stand in it. What is not YAML is an error with its line and column. */
export function parseStrictYaml(
  text: string,
  path: string,
  errors: YamlErrors,
): { document: Document; places: YamlPlaces } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const places = new YamlPlaces(path, lines, document);
  const syntax = document.errors[0];
  if (syntax?.code === 'MULTIPLE_DOCS') {
    throw errors.invalid(
      places.at(syntax.pos[0]),
      'a second YAML document starts here',
      'keep one document in the file',
    );
  }
  if (syntax !== undefined) {
    throw errors.invalid(places.at(syntax.pos[0]), syntax.message.split(/ at line |\n/)[0]!, 'write plain YAML');
  }
  return { document, places };
}

/**
 * Reads a YAML file in which every key must be known and every value right; the first thing that is not is an error.
 * `start` says how such a file begins, for one that is empty.
 */
export function readStrictYaml(
  text: string,
  path: string,
  kind: Kind,
  errors: YamlErrors,
  start: string,
): { value: unknown; places: YamlPlaces } {
  const { document, places } = parseStrictYaml(text, path, errors);
  if (document.contents === null) throw errors.invalid(path, 'holds no keys', start);
  return { value: readSchema(document.contents, kind, places, errors), places };
}
