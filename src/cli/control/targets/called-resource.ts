import type { ResourceKind } from '../../../control/resources/kind.js';
import { missingOperand, unexpectedArgument } from '../../errors.js';
import type { CommandLine } from '../../flags/command-line.js';
import { mixedOperands, onlyEndpoints } from '../errors.js';

/** A resource as a command names it, and its path in the API. */
export interface CalledResource {
  readonly kind: ResourceKind;
  /** Empty for kinds without a workspace. */
  readonly workspace: string;
  readonly name: string;
  /** For messages: `Endpoint default/chat`. */
  readonly shown: string;
  readonly path: string;
}

/** The most names in one command. */
export const MOST_NAMES = 1000;

export async function calledKind(given: string): Promise<ResourceKind> {
  const { kindNamed } = await import('../../../control/resources/kinds.js');
  return kindNamed(given, 'KIND');
}

export function resourceAt(kind: ResourceKind, name: string, workspace: string): CalledResource {
  const isGlobal = kind.scope === 'global';
  return {
    kind,
    workspace: isGlobal ? '' : workspace,
    name,
    shown: isGlobal ? `${kind.kind} ${name}` : `${kind.kind} ${workspace}/${name}`,
    path: `${listPath(kind, workspace)}/${encodeURIComponent(name)}`,
  };
}

/** Where the resources of a kind are listed. @param workspace null for those of all */
export function listPath({ plural, scope }: ResourceKind, workspace: string | null): string {
  if (scope === 'global' || workspace === null) return `/api/v1/${plural}`;
  return `/api/v1/workspaces/${encodeURIComponent(workspace)}/${plural}`;
}

/** A kind and the names of some of its resources; no names for all. */
export interface CalledNames {
  readonly kind: ResourceKind;
  readonly names: readonly string[];
}

/** What `KIND NAME...`, `KIND/NAME...` or `KIND,KIND` name, in this order, one entry for each kind. */
export async function calledNames(operands: readonly string[]): Promise<CalledNames[]> {
  if (!operands.some((one) => one.includes('/'))) {
    const [kinds, ...names] = operands as [string, ...string[]];
    if (!kinds.includes(',')) return [{ kind: await calledKind(kinds), names }];
    if (names.length > 0) throw mixedOperands(kinds);
    return Promise.all(kinds.split(',').map(async (one) => ({ kind: await calledKind(one), names: [] })));
  }
  const found = new Map<ResourceKind, string[]>();
  for (const one of operands) {
    const [kind, name, ...more] = one.split('/');
    if (!kind || !name || more.length > 0) throw mixedOperands(one);
    const called = await calledKind(kind);
    found.set(called, [...(found.get(called) ?? []), name]);
  }
  return [...found].map(([kind, names]) => ({ kind, names }));
}

/** The resources that a command names, at least one. @param command its name, for messages */
export async function calledResources(
  operands: readonly string[],
  workspace: string,
  { name: command, operands: taken }: Pick<CommandLine, 'name' | 'operands'>,
): Promise<CalledResource[]> {
  const called = await calledNames(operands);
  // Without the brackets of operands that a file can replace.
  const usage = taken!.usage.replace(/^\[(.*)\]$/, '$1');
  if (called.some(({ names }) => names.length === 0)) throw missingOperand(command, usage);
  return called.flatMap(({ kind, names }) => names.map((name) => resourceAt(kind, name, workspace)));
}

/** The one resource that a command names: `KIND NAME` or `KIND/NAME`. */
export async function calledResource(
  operands: readonly string[],
  workspace: string,
  line: Pick<CommandLine, 'name' | 'operands'>,
): Promise<CalledResource> {
  const [first, second] = await calledResources(operands, workspace, line);
  if (second !== undefined) throw unexpectedArgument(operands.at(-1)!, line.name, line.operands!.usage);
  return first!;
}

/** The same for commands that only endpoints support. */
export async function calledEndpoint(
  operands: readonly string[],
  workspace: string,
  line: Pick<CommandLine, 'name' | 'operands'>,
): Promise<CalledResource> {
  const called = await calledResource(operands, workspace, line);
  if (called.kind.kind !== 'Endpoint') throw onlyEndpoints(operands[0]!);
  return called;
}
