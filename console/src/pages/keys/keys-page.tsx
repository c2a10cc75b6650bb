import { getRouteApi, Link } from '@tanstack/react-router';
import { useBestRole, useMay } from '../../api/access';
import { useGet, useSession } from '../../api/queries';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { Empty, Failure, Loading } from '../../parts/states';
import type { KeyList } from './key-list';
import { KeyTable } from './key-table';
import { NewKey } from './new-key';
import { UsagePart } from './usage-part';

const route = getRouteApi('/keys');

/** API keys of a workspace, and what was used with them. */
export function KeysPage() {
  const { cursor, tab = 'keys', workspace = 'default' } = route.useSearch();
  const { data: session } = useSession();
  const mayIssue = useMay('admin', workspace);
  const role = useBestRole();
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
  return (
    <>
      <PageHead
        title="Keys and usage"
        about={role === 'none' ? 'What was used with your key' : `API keys of workspace ${workspace}`}
        actions={mayIssue && tab === 'keys' ? <NewKey workspace={workspace} /> : null}
      />
      <nav className="tabs" aria-label="Keys or usage">
        {role === 'none' ? null : (
          <Link to="/keys" search={{ workspace }} className="tab" aria-current={tab === 'keys' ? 'page' : undefined}>
            Keys
          </Link>
        )}
        <Link
          to="/keys"
          search={{ workspace, tab: 'usage' }}
          className="tab"
          aria-current={tab === 'usage' ? 'page' : undefined}
        >
          Usage
        </Link>
      </nav>
      {tab === 'usage' || role === 'none' ? (
        <UsagePart />
      ) : (
        <KeyPart workspace={workspace} cursor={cursor} mayChange={mayIssue} />
      )}
    </>
  );
}

function KeyPart({
  cursor,
  mayChange,
  workspace,
}: {
  workspace: string;
  cursor?: string | undefined;
  mayChange: boolean;
}) {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const path = `workspaces/${encodeURIComponent(workspace)}/apikeys?limit=100${after}`;
  const { data, error, refetch } = useGet<KeyList>(path, { keepsFormer: true });
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      <KeyTable keys={data} workspace={workspace} mayChange={mayChange} />
      <AsCommand
        commands={[`twinyard get keys --workspace ${workspace}`, `twinyard keys create NAME --workspace ${workspace}`]}
      />
    </>
  );
}
