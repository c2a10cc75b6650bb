import type { FeedFilter } from '../../control/change-feed.js';
import { kindNamed } from '../../control/resources/kinds.js';
import { field, text } from '../../schema/fields.js';
import { authorise } from '../access/authorise.js';
import { type Caller, workspacesWith } from '../access/caller.js';

/** The query parameters of lists and streams over resources of any kind. */
export const FILTER_QUERY = {
  kind: field(text(63), { help: 'only of this kind' }),
  workspace: field(text(63), { help: 'only of this workspace; without it, of those in which the caller has a role' }),
  name: field(text(), { help: 'only of this name' }),
};

interface FilterValues {
  readonly kind?: string | undefined;
  readonly workspace?: string | undefined;
  readonly name?: string | undefined;
}

/** The filter of a query, after a check that the caller may see what it lets through. */
export function filterOf(caller: Caller, query: FilterValues): FeedFilter {
  const kind = query.kind === undefined ? undefined : kindNamed(query.kind, '?kind');
  // Every caller with any role may see what belongs to no workspace.
  const workspace = kind?.scope === 'global' ? '' : query.workspace;
  const scope = kind?.scope === 'global' || workspace === undefined ? 'anywhere' : 'workspace';
  authorise(caller, { role: 'viewer', scope }, workspace ?? '');
  const workspaces = workspacesWith(caller, 'viewer');
  return {
    ...(workspaces === undefined ? {} : { workspaces }),
    ...(kind === undefined ? {} : { kind: kind.kind }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(query.name === undefined ? {} : { name: query.name }),
  };
}
