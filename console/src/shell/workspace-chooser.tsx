import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useBestRole } from '../api/access';
import { useGet, useSession } from '../api/queries';
import type { Page, Resource } from '../api/types';

/** The workspace in view: that of the page, or the one that the visitor has chosen. */
export function useWorkspace(): string | undefined {
  const { workspace: chosen } = useSearch({ strict: false });
  const { workspace: ofPage } = useParams({ strict: false });
  return ofPage ?? chosen;
}

/** Narrows pages to a workspace. The choice is in the address. */
export function WorkspaceChooser() {
  const { data: session } = useSession();
  const isViewer = useBestRole() !== 'none';
  const path = session?.has_store === true && isViewer ? 'workspaces?limit=1000&fields=metadata.name' : null;
  const { data } = useGet<Page<Resource>>(path);
  const workspace = useWorkspace();
  const { workspace: ofPage } = useParams({ strict: false });
  const list = useListBehind();
  const navigate = useNavigate();
  const names = data?.items.map(({ metadata }) => metadata.name) ?? [];
  // The page of an endpoint names its workspace itself.
  if (names.length < 2 && (workspace === undefined || ofPage !== undefined)) return null;
  const choose = (wanted: string) => {
    const search = { workspace: wanted === '' ? undefined : wanted };
    if (list !== null) void navigate({ to: list.to, search: { ...list.search, ...search } });
    else void navigate({ to: '.', search: (before) => ({ ...withoutOwn(before), ...search }) });
  };
  return (
    <select
      className="workspace"
      aria-label="Workspace"
      value={workspace ?? ''}
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">All workspaces</option>
      {workspace === undefined || names.includes(workspace) ? null : <option>{workspace}</option>}
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

/** Parameters that name something of one workspace: another one does not have it. */
const OWN = [
  ...['endpoint', 'replica', 'key', 'id', 'profile', 'upload', 'file', 'job', 'saved', 'switch', 'cursor'],
] as const;

const withoutOwn = <Search extends object>(search: Search): Search => ({
  ...search,
  ...Object.fromEntries(OWN.filter((name) => name in search).map((name) => [name, undefined])),
});

/** The page of one thing is of its workspace: another workspace has the list of such things. Null for all other pages. */
function useListBehind() {
  const { id, kind, name, workspace } = useParams({ strict: false });
  if (workspace !== undefined) return { to: '/', search: {} } as const;
  if (id !== undefined) return { to: '/requests', search: {} } as const;
  if (name === undefined) return null;
  return kind === undefined
    ? ({ to: '/keys', search: {} } as const)
    : ({ to: '/resources', search: { kind } } as const);
}
