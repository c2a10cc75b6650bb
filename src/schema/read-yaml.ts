import * as v from 'valibot';
import { type Document, LineCounter, type Node, parseDocument } from 'yaml';
import { InputError } from '../kernel/errors.js';
import type { Schema } from './facts.js';
import { plainValue } from './plain-value.js';
import { inputError, pathText, problemsOf, type SchemaCodes } from './problems.js';
import { YamlPlaces } from './yaml-places.js';

/** A file that fits its schema. */
export interface ReadFile<S extends v.GenericSchema> {
  /** As it was written, without defaults. */
  readonly given: v.InferInput<S>;
  /** With defaults filled in. */
  readonly value: v.InferOutput<S>;
  readonly places: YamlPlaces;
}

/** A YAML file of one document, with the places of its nodes. Invalid YAML is an error with its line and column. */
export function parseYaml(text: string, path: string, codes: SchemaCodes): { document: Document; places: YamlPlaces } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const places = new YamlPlaces(path, lines, document);
  const syntax = document.errors[0];
  if (syntax === undefined) return { document, places };
  const [problem, hint] =
    syntax.code === 'MULTIPLE_DOCS'
      ? ['a second YAML document starts here', 'keep one document in the file']
      : [syntax.message.split(/ at line |\n/)[0]!, 'write plain YAML'];
  throw new InputError(codes.invalid, places.at(syntax.pos[0]), problem, hint);
}

/**
 * Reads a YAML file in which every key must be known and every value right. The error names the first thing wrong in
 * the file, with its line and column.
 * @param start how such a file begins, for one that is empty
 */
export function readYaml<S extends v.GenericSchema>(
  text: string,
  path: string,
  schema: S,
  codes: SchemaCodes,
  start: string,
): ReadFile<S> {
  const { document, places } = parseYaml(text, path, codes);
  if (document.contents === null) throw new InputError(codes.invalid, path, 'holds no keys', start);
  return { ...checkNode(document.contents, schema, places, codes), places };
}

/** Reads one node of a file that is parsed already. @param at the keys that lead to it */
export function checkNode<S extends v.GenericSchema>(
  node: Node,
  schema: S,
  places: YamlPlaces,
  codes: SchemaCodes,
  at: readonly string[] = [],
): { given: v.InferInput<S>; value: v.InferOutput<S> } {
  const given = withoutEditorSchema(
    plainValue(node, schema as unknown as Schema, places, (alias) => {
      const place = places.at(alias.range![0]);
      return new InputError(codes.invalid, place, `there is no anchor for '${alias}'`, 'write &name above it');
    }),
  );
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return { given: given as v.InferInput<S>, value: parsed.output };
  const problems = problemsOf(schema as unknown as Schema, given).map((problem) => ({
    problem,
    offset:
      problem.kind === 'missing' ? Number.POSITIVE_INFINITY : places.offset([...at, ...problem.path], problem.kind),
  }));
  const { problem, offset } = problems.reduce((first, next) => (next.offset < first.offset ? next : first));
  const where = pathText([...at, ...problem.path]);
  throw inputError(problem, Number.isFinite(offset) ? places.at(offset, where) : places.of(where), codes);
}

/** `$schema` names the JSON Schema for editors and is otherwise ignored. */
function withoutEditorSchema(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { $schema: _, ...rest } = given as Record<string, unknown>;
  return rest;
}
