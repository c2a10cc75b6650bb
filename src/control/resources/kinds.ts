import { unknownKindName } from './errors.js';
import type { ResourceKind } from './kind.js';
import { apiKey } from './kinds/api-key.js';
import { cluster } from './kinds/cluster.js';
import { endpoint } from './kinds/endpoint.js';
import { engine } from './kinds/engine.js';
import { externalEndpoint } from './kinds/external-endpoint.js';
import { modelRegistry } from './kinds/model-registry.js';
import { role } from './kinds/role.js';
import { workspace } from './kinds/workspace.js';
import { DEFAULT_WORKSPACE } from './resource.js';

/** Every kind of resource, referenced kinds first: a new one is a file and a line here. */
export const KINDS: readonly ResourceKind[] = [
  workspace,
  role,
  apiKey,
  engine,
  cluster,
  modelRegistry,
  endpoint,
  externalEndpoint,
];

/** By kind, plural or short name, in any case. */
export function findKind(given: string): ResourceKind | undefined {
  const wanted = given.toLowerCase();
  return KINDS.find(
    ({ kind, plural, shortNames }) => kind.toLowerCase() === wanted || plural === wanted || shortNames.includes(wanted),
  );
}

export function kindNamed(given: string, place: string): ResourceKind {
  const found = findKind(given);
  if (found !== undefined) return found;
  const names = KINDS.flatMap(({ kind, plural, shortNames }) => [kind.toLowerCase(), plural, ...shortNames]);
  throw unknownKindName(place, given, names, KINDS.map(kindNames));
}

/** The names of a kind in commands: `endpoints (ep)`. */
export const kindNames = ({ plural, shortNames }: Pick<ResourceKind, 'plural' | 'shortNames'>) =>
  shortNames.length === 0 ? plural : `${plural} (${shortNames.join(', ')})`;

/** The command that lists a kind. */
export const listCommand = ({ plural, scope }: Pick<ResourceKind, 'plural' | 'scope'>, workspace: string) =>
  `twinyard get ${plural}${scope === 'global' || workspace === DEFAULT_WORKSPACE ? '' : ` -n ${workspace}`}`;
