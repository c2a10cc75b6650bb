import { getRouteApi, Link } from '@tanstack/react-router';
import { useBestRole, useMay } from '../../api/access';
import { pathOf, withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Session } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { inWorkspace } from '../../parts/commands';
import { ListFilters } from '../../parts/list-filters';
import { ownWorkspace } from '../../parts/own-workspace';
import { Empty, Failure, Loading } from '../../parts/states';
import type { KeyList } from './key-list';
import { KeyTable } from './key-table';
import { LimitList } from './limit-list';
import { NewKey } from './new-key';
import { UsagePart } from './usage-part';

const route = getRouteApi('/keys');

/** API keys of a workspace, and what was used with them. */
export function KeysPage() {
  const { tab = 'keys', workspace } = route.useSearch();
  const { data: session } = useSession();
  const place = workspace ?? ownWorkspace(session, 'admin');
  const mayIssue = useMay('admin', place);
  const isOwn = useBestRole() === 'none';
  if (session?.has_store !== true) {
    return (
      <>
        <PageHead title="Keys and usage" />
        <Empty title="This gateway has no store" command="twinyard serve --store twinyard.db -c twinyard.yaml">
          API keys, limits and usage are kept in a store.
        </Empty>
      </>
    );
  }
  if (isOwn) {
    return (
      <>
        <PageHead title="Keys and usage" about={`What was used with your key ${session.name}`} />
        <LimitList path="limits/own" />
        <UsagePart />
      </>
    );
  }
  return (
    <>
      <PageHead
        title="Keys and usage"
        about={`${tab === 'keys' ? 'API keys' : 'What was used with the keys and endpoints'} of ${whereText(session, workspace)}`}
        actions={mayIssue && tab === 'keys' ? <NewKey workspace={place} /> : null}
      />
      <nav className="tabs" aria-label="Keys or usage">
        <Link to="/keys" search={{}} className="tab" aria-current={tab === 'keys' ? 'page' : undefined}>
          Keys
        </Link>
        <Link to="/keys" search={{ tab: 'usage' }} className="tab" aria-current={tab === 'usage' ? 'page' : undefined}>
          Usage
        </Link>
      </nav>
      {tab === 'usage' ? <UsagePart /> : <KeyPart workspace={workspace} />}
    </>
  );
}

function whereText({ role }: Session, workspace: string | undefined): string {
  if (workspace !== undefined) return `workspace ${workspace}`;
  return role === 'none' ? 'the workspaces in which you have a role' : 'all workspaces';
}

const PHASES = ['Active', 'Pending', 'Expired', 'Revoked'];

/** The keys of a workspace, or of all: filtered, sorted and paged by the server. */
function KeyPart({ workspace }: { readonly workspace: string | undefined }) {
  const { cursor, phase, search, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const path = withQuery(workspace === undefined ? 'apikeys' : `workspaces/${pathOf(workspace, 'apikeys')}`, {
    search,
    phase,
    sort,
    limit: 100,
    cursor,
    count: true,
  });
  const { data, error, refetch } = useGet<KeyList>(path, { keepsFormer: true });
  const isFiltered = search !== undefined || phase !== undefined;
  return (
    <>
      <ListFilters
        query={{ search, phase, sort }}
        phases={PHASES}
        onChange={(change) =>
          void navigate({ search: (before) => ({ ...before, ...change, cursor: undefined }), replace: true })
        }
      />
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <KeyTable
          keys={data}
          isFiltered={isFiltered}
          isOfAll={workspace === undefined}
          isFirst={cursor === undefined}
        />
      )}
      <AsCommand
        commands={[
          workspace === undefined ? 'twinyard get apikeys -A' : `twinyard keys list${inWorkspace(workspace)}`,
          `twinyard keys create --name alice${inWorkspace(workspace)}`,
        ]}
        calls={[path]}
      />
    </>
  );
}
