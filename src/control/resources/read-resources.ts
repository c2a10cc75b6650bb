import { type Document, isMap, isScalar, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml';
import type { InputError } from '../../kernel/errors.js';
import { YamlPlaces } from '../../schema/yaml-places.js';
import { checkResource } from './check-resource.js';
import { badDocument, InvalidResources, invalidField } from './errors.js';
import type { PlaceOf, ResourceKind } from './kind.js';
import { KINDS } from './kinds.js';
import { DEFAULT_WORKSPACE, type Resource } from './resource.js';

/** A resource from a file, and the places of its fields. */
export interface WrittenResource {
  readonly resource: Resource;
  readonly placeOf: PlaceOf;
}

/** A resource in a document, valid or not. */
export interface Draft {
  readonly kind: ResourceKind;
  /** Empty for kinds that belong to none. */
  readonly workspace: string;
  /** Empty when it is not given. */
  readonly name: string;
  readonly spec: unknown;
  readonly placeOf: PlaceOf;
  /** Valid apart from its references. */
  readonly isRight: boolean;
}

export interface ReadDocuments {
  readonly written: readonly WrittenResource[];
  /** All documents of a known kind. */
  readonly drafts: readonly Draft[];
  /** The errors of all documents. */
  readonly problems: readonly InputError[];
}

const HINT = 'write plain YAML or JSON';

/**
 * The resources of a YAML or JSON file, which may hold several documents. Throws all errors of all documents at once.
 * @param workspace the default for resources that name none
 */
export function readResources(text: string, file: string, workspace?: string): readonly WrittenResource[] {
  const { problems, written } = readDocuments(text, file, workspace);
  if (problems.length > 0) throw new InvalidResources(problems);
  return written;
}

/** The same, with errors returned instead of thrown. Throws when the file is empty. */
export function readDocuments(text: string, file: string, workspace?: string): ReadDocuments {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines });
  const documents = 'empty' in parsed ? [] : parsed;
  const problems: InputError[] = [];
  const written: WrittenResource[] = [];
  const drafts: Draft[] = [];
  for (const document of documents as Document.Parsed[]) {
    const places = new YamlPlaces(file, lines, document as Document);
    const syntax = document.errors[0];
    if (syntax !== undefined) {
      problems.push(badDocument(places.at(syntax.pos[0]), syntax.message.split(/ at line |\n/)[0]!, HINT));
      continue;
    }
    if (isEmpty(document.contents)) continue;
    const placeOf: PlaceOf = (path) => placeIn(document, places, path);
    try {
      const value = inWorkspace(document.toJS(), workspace);
      const checked = checkResource(value, placeOf);
      if ('problems' in checked) problems.push(...checked.problems);
      else written.push({ resource: checked.resource, placeOf });
      const draft = draftOf('problems' in checked ? value : checked.resource, placeOf, !('problems' in checked));
      if (draft !== null) drafts.push(draft);
    } catch (error) {
      // An alias without its anchor, or one that would grow without end.
      if (!(error instanceof ReferenceError)) throw error;
      problems.push(badDocument(placeOf(''), error.message, HINT));
    }
  }
  problems.push(...twice(written));
  if (written.length === 0 && problems.length === 0) {
    throw badDocument(file, 'holds no resource', "begin with 'apiVersion: twinyard/v1'");
  }
  return { written, drafts, problems };
}

function draftOf(value: unknown, placeOf: PlaceOf, isRight: boolean): Draft | null {
  const { kind: given, metadata, spec } = (value ?? {}) as { kind?: unknown; metadata?: unknown; spec?: unknown };
  const kind = KINDS.find((one) => one.kind === given);
  if (kind === undefined) return null;
  const { name, workspace = DEFAULT_WORKSPACE } = (metadata ?? {}) as { name?: unknown; workspace?: unknown };
  return {
    ...{ kind, spec, placeOf, isRight },
    workspace: kind.scope === 'global' ? '' : String(workspace),
    name: typeof name === 'string' ? name : '',
  };
}

function inWorkspace(value: unknown, workspace: string | undefined): unknown {
  if (workspace === undefined) return value;
  const { kind, metadata } = (value ?? {}) as { kind?: unknown; metadata?: object };
  const isItsScope = KINDS.some((one) => one.kind === kind && one.scope === 'workspace');
  if (!isItsScope || typeof metadata !== 'object' || metadata === null) return value;
  return { ...(value as object), metadata: { workspace, ...metadata } };
}

const isEmpty = (contents: ParsedNode | null) => contents === null || (isScalar(contents) && contents.value === null);

/** A missing part has the place of its document, which need not be the first of the file. */
function placeIn({ contents }: Document.Parsed, places: YamlPlaces, path: string): string {
  const first = /^[^.[]*/.exec(path)![0];
  return isMap(contents) && contents.has(first) ? places.of(path) : places.at(contents?.range?.[0] ?? 0, path);
}

function twice(written: readonly WrittenResource[]): InputError[] {
  const seen = new Set<string>();
  return written.flatMap(({ placeOf, resource }) => {
    const called = resourceKey(resource);
    if (!seen.has(called)) {
      seen.add(called);
      return [];
    }
    return [invalidField(placeOf('metadata.name'), `${called} is described twice`, 'keep one of the two')];
  });
}

/** `Endpoint default/chat`, `Engine vllm`: unique for each resource. */
export function resourceKey({ kind, metadata: { name, workspace } }: Pick<Resource, 'kind' | 'metadata'>): string {
  return workspace === undefined ? `${kind} ${name}` : `${kind} ${workspace}/${name}`;
}
