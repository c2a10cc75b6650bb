import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay } from '../../api/access';
import { pathOf, withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { CountedPage, Page, Resource } from '../../api/types';
import { Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { inWorkspace, quoted } from '../../parts/commands';
import { type Kind, useKindSchema } from '../../parts/editor/use-kind-schema';
import { counted } from '../../parts/format';
import { ListFilters } from '../../parts/list-filters';
import { ownWorkspace } from '../../parts/own-workspace';
import { Empty, Failure, Loading } from '../../parts/states';
import { ResourceTable } from './resource-table';

const route = getRouteApi('/resources');
const PAGE_SIZE = 100;

/** Keys have a page of their own. */
const ELSEWHERE = new Set(['ApiKey']);

/** Everything that is declared, by kind: filtered, sorted and paged by the server. */
export function ResourcesPage() {
  const { cursor, kind: asked, phase, search, sort, workspace } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  // A gateway without a control plane has no clusters, but endpoints of its configuration file.
  const clusters = useGet<Page<Resource>>(asked === undefined ? 'clusters?limit=1&fields=metadata.name' : null);
  const wanted = asked ?? (clusters.data?.items.length === 0 ? 'endpoints' : 'clusters');
  const { data: kinds } = useGet<Page<Kind>>('kinds', { isFixed: true });
  const hasStore = session?.has_store === true;
  const isChosen = asked !== undefined || clusters.data !== undefined || clusters.error !== null;
  const kind = isChosen ? kinds?.items.find(({ plural }) => plural === wanted) : undefined;
  const schema = useKindSchema(hasStore && kind !== undefined ? wanted : null).data?.schema;
  const phases = (schema?.properties?.status?.properties?.phase?.enum ?? []).map(String);
  const isIn = kind?.scope === 'workspace' && workspace !== undefined;
  const collection = isIn ? `workspaces/${pathOf(workspace, wanted)}` : wanted;
  const path = withQuery(collection, { search, phase, sort, limit: PAGE_SIZE, cursor, count: true });
  const { data, error, refetch } = useGet<CountedPage<Resource>>(hasStore && kind !== undefined ? path : null, {
    keepsFormer: true,
  });
  const role = kind?.changed_by ?? 'admin';
  const place = kind?.scope === 'global' ? undefined : (workspace ?? ownWorkspace(session, role));
  const mayCreate = useMay(role, place) && session?.has_control === true;
  if (!hasStore) {
    return (
      <>
        <PageHead title="Resources" />
        <Empty title="This gateway has no store" command="twinyard serve">
          Without replicas and without a file, it is a control plane that runs resources.
        </Empty>
      </>
    );
  }
  const shown = kinds?.items.filter((one) => !ELSEWHERE.has(one.kind)) ?? [];
  const isFiltered = search !== undefined || phase !== undefined;
  return (
    <>
      <PageHead
        title="Resources"
        about={kind?.summary}
        actions={
          mayCreate && kind !== undefined ? (
            <Link to="/resources/new/$kind" params={{ kind: wanted }} className="button button-primary">
              New {kind.kind}
            </Link>
          ) : null
        }
      />
      <nav className="tabs" aria-label="Kinds of resources">
        {shown.map((one) => (
          <Link
            key={one.kind}
            to="/resources"
            search={{ kind: one.plural }}
            className="tab"
            aria-current={one.plural === wanted ? 'page' : undefined}
          >
            {one.kind}
          </Link>
        ))}
      </nav>
      <ListFilters
        query={{ search, phase, sort }}
        phases={phases}
        onChange={(change) =>
          void navigate({ search: (before) => ({ ...before, ...change, cursor: undefined }), replace: true })
        }
      />
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined || kind === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <Card
          title={
            <>
              {kind.kind} <span className="muted">{counted(data)}</span>
            </>
          }
          actions={
            <>
              {cursor === undefined ? null : (
                <Link to="/resources" search={{ kind: wanted, search, phase, sort }} className="button">
                  First
                </Link>
              )}
              {data.next === null ? null : (
                <Link
                  to="/resources"
                  search={{ kind: wanted, search, phase, sort, cursor: data.next }}
                  className="button"
                >
                  Next
                </Link>
              )}
            </>
          }
        >
          {data.items.length > 0 ? (
            <ResourceTable resources={data.items} kind={kind} />
          ) : isFiltered ? (
            <Empty title={`No ${kind.kind} fits`}>
              <Link to="/resources" search={{ kind: wanted }}>
                Show all
              </Link>
            </Empty>
          ) : session?.has_control === false ? (
            <Empty title={`No ${kind.kind} here`} command="twinyard serve">
              This gateway has no control plane: it serves replicas that it was started with. Without replicas and
              without a file, it is one.
            </Empty>
          ) : (
            <Empty title={`No ${kind.kind} yet`} command="twinyard apply -f FILE.yaml">
              {kind.summary}
            </Empty>
          )}
        </Card>
      )}
      <AsCommand
        commands={[
          `twinyard get ${quoted(wanted)}${isIn ? inWorkspace(workspace) : kind?.scope === 'workspace' ? ' -A' : ''}`,
        ]}
        calls={[path]}
      />
    </>
  );
}
