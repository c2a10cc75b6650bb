import type { InputError } from '../../kernel/errors.js';
import { Turns } from '../../kernel/turns.js';
import { checkResource } from './check-resource.js';
import { type ParsedDocument, parseDocuments } from './documents/parse-documents.js';
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

/** More are not reported: reading them takes longer than fixing the first. */
const MOST_PROBLEMS = 100;

/**
 * The resources of a YAML or JSON file, which may hold several documents. Throws all errors of all documents at once.
 * @param workspace the default for resources that name none
 */
export function readResources(text: string, file: string, workspace?: string): readonly WrittenResource[] {
  const reading = new Reading(workspace);
  for (const document of parseDocuments(text, file, 'own')) reading.add(document);
  const { problems, written } = reading.end(file);
  if (problems.length > 0) throw new InvalidResources(problems);
  return written;
}

/**
 * The same for a text that others have sent: within limits, in turns of the event loop, and with errors returned
 * instead of thrown. Throws when the text is empty, or over a limit that applies to all of it.
 */
export async function readDocuments(text: string, file: string, workspace?: string): Promise<ReadDocuments> {
  const turns = new Turns();
  const reading = new Reading(workspace);
  for (const document of parseDocuments(text, file, 'foreign')) {
    reading.add(document);
    if (reading.problems.length >= MOST_PROBLEMS) break;
    await turns.next();
  }
  return reading.end(file);
}

/** What has been read so far. */
class Reading {
  readonly problems: InputError[] = [];
  readonly #written: WrittenResource[] = [];
  readonly #drafts: Draft[] = [];

  constructor(private readonly workspace: string | undefined) {}

  add(document: ParsedDocument): void {
    if ('problem' in document) {
      this.problems.push(document.problem);
      return;
    }
    const { placeOf } = document;
    const value = inWorkspace(document.value, this.workspace);
    const checked = checkResource(value, placeOf);
    const isRight = !('problems' in checked);
    if (isRight) this.#written.push({ resource: checked.resource, placeOf });
    else this.problems.push(...checked.problems.slice(0, MOST_PROBLEMS));
    const draft = draftOf(isRight ? checked.resource : value, placeOf, isRight);
    if (draft !== null) this.#drafts.push(draft);
  }

  end(file: string): ReadDocuments {
    const written = this.#written;
    const problems = [...this.problems, ...twice(written)];
    if (written.length === 0 && problems.length === 0) {
      throw badDocument(file, 'holds no resource', "begin with 'apiVersion: twinyard/v1'");
    }
    return { written, drafts: this.#drafts, problems: problems.slice(0, MOST_PROBLEMS) };
  }
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
