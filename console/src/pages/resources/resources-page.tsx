import { getRouteApi, Link } from '@tanstack/react-router';
import { withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Page, Resource } from '../../api/types';
import { Badge, Card, PageHead, TablePlace, type Tone } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { Empty, Failure, Loading } from '../../parts/states';
import { Time } from '../../parts/time';
import { Capacity } from './capacity';

const route = getRouteApi('/resources');

interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'global' | 'workspace';
  readonly summary: string;
}

/** Keys have a page of their own. */
const ELSEWHERE = new Set(['ApiKey']);
const GOOD = new Set(['Ready', 'Running', 'Active', 'Connected', 'Available']);
const BAD = new Set(['Failed', 'Error', 'Unreachable', 'Lost']);

const toneOf = (phase: string): Tone => (GOOD.has(phase) ? 'good' : BAD.has(phase) ? 'bad' : 'idle');

/** Everything that is declared, by kind. */
export function ResourcesPage() {
  const { cursor, kind: wanted = 'clusters' } = route.useSearch();
  const { data: session } = useSession();
  const { data: kinds } = useGet<Page<Kind>>('kinds');
  const hasStore = session?.has_store === true;
  const kind = kinds?.items.find(({ plural }) => plural === wanted);
  const path = hasStore && kind !== undefined ? withQuery(kind.plural, { limit: 100, cursor }) : null;
  const { data, error, refetch } = useGet<Page<Resource>>(path, { keepsFormer: true });
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
  return (
    <>
      <PageHead title="Resources" about={kind?.summary} />
      <nav className="tabs" aria-label="Kinds of resources">
        {shown.map((one) => (
          <Link
            key={one.kind}
            to="/resources"
            search={{ kind: one.plural }}
            className="tab"
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {one.kind}
          </Link>
        ))}
      </nav>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined || kind === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <Card
          title={kind.kind}
          actions={
            data.next === null ? null : (
              <Link to="/resources" search={{ kind: wanted, cursor: data.next }} className="button">
                Next
              </Link>
            )
          }
        >
          {data.items.length === 0 ? (
            <Empty title={`No ${kind.kind} yet`} command="twinyard apply -f FILE.yaml">
              {kind.summary}
            </Empty>
          ) : (
            <ResourceTable resources={data.items} kind={kind} />
          )}
        </Card>
      )}
      <AsCommand
        commands={[`twinyard get ${wanted}`, `twinyard describe ${kind?.kind.toLowerCase() ?? 'cluster'} NAME`]}
      />
    </>
  );
}

function ResourceTable({ kind, resources }: { readonly resources: readonly Resource[]; readonly kind: Kind }) {
  return (
    <TablePlace name={kind.kind}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">{kind.kind === 'Cluster' ? 'Free' : 'Message'}</th>
            <th scope="col">Created</th>
            <th scope="col">Specification</th>
          </tr>
        </thead>
        <tbody>
          {resources.map((one) => (
            <tr key={one.metadata.uid ?? one.metadata.name}>
              <td>
                <Name resource={one} />
              </td>
              <td>
                {one.status?.phase === undefined ? (
                  <span className="muted">–</span>
                ) : (
                  <Badge tone={toneOf(one.status.phase)}>{one.status.phase}</Badge>
                )}
              </td>
              <td>{kind.kind === 'Cluster' ? <Capacity cluster={one} /> : (one.status?.message ?? '')}</td>
              <td className="mono nowrap">
                {one.metadata.created_at === undefined ? '–' : <Time at={one.metadata.created_at} />}
              </td>
              <td>
                <details>
                  <summary>Show</summary>
                  <pre className="block">{JSON.stringify(one.spec, null, 2)}</pre>
                </details>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}

function Name({ resource: { kind, metadata } }: { readonly resource: Resource }) {
  const { name, workspace } = metadata;
  const full = (
    <>
      {workspace === undefined ? null : <span className="muted">{workspace}/</span>}
      {name}
    </>
  );
  if (kind !== 'Endpoint' || workspace === undefined) return full;
  return (
    <Link to="/endpoints/$workspace/$name" params={{ workspace, name }}>
      {full}
    </Link>
  );
}
