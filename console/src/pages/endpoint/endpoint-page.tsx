import { getRouteApi, Link } from '@tanstack/react-router';
import { pathOf } from '../../api/client';
import { useLive } from '../../api/live';
import { useGet } from '../../api/queries';
import type { LiveEndpoint, Page, Replica } from '../../api/types';
import { Badge, Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { milliseconds, short, whole } from '../../parts/format';
import { Stat, Stats } from '../../parts/stat';
import { Failure, Loading } from '../../parts/states';
import { ReplicaTable } from './replica-table';

const route = getRouteApi('/endpoints/$workspace/$name');

export function EndpointPage() {
  const { name, workspace } = route.useParams();
  const base = `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const endpoint = useGet<LiveEndpoint>(`${base}/live`, { everyMs: 2000 });
  const listed = useGet<Page<Replica>>(`${base}/replicas?limit=1000`);
  const followed = useLive((snapshot) => snapshot.replicas);
  const rates = useLive(({ traffic }) => traffic)?.items.find(
    (one) => one.name === name && one.workspace === workspace,
  );
  if (endpoint.error !== null) return <Failure error={endpoint.error} onRetry={() => void endpoint.refetch()} />;
  if (endpoint.data === undefined) return <Loading />;
  const own = [...followed.values()].filter((one) => one.endpoint === name && one.workspace === workspace);
  const replicas = own.length > 0 ? own : (listed.data?.items ?? []);
  const { models, policy, source } = endpoint.data;
  return (
    <>
      <PageHead
        title={
          <>
            <Link to="/" className="muted">
              {workspace}
            </Link>
            <span className="muted"> / </span>
            {name}
          </>
        }
        about={`${policy.routing?.policy ?? 'policy'} · ${models.join(', ') || 'no model yet'} · ${source === 'file' ? 'from the configuration file' : 'managed'}`}
      />
      <Stats>
        <Stat name="Requests" value={short(rates?.requests_per_s ?? 0)} unit="/s" />
        <Stat name="Output tokens" value={short(rates?.output_tokens_per_s ?? 0)} unit="/s" />
        <Stat
          name="First token, median"
          value={milliseconds(rates?.ttft_p50_ms ?? null)}
          note={`p95 ${milliseconds(rates?.ttft_p95_ms ?? null)}`}
        />
        <Stat name="In flight" value={whole(endpoint.data.in_flight)} />
        <Stat name="Queued" value={whole(Object.values(endpoint.data.queued).reduce((sum, one) => sum + one, 0))} />
      </Stats>
      <Card title="Replicas" actions={<Badge tone="idle">{replicas.length}</Badge>}>
        <ReplicaTable replicas={replicas} />
      </Card>
      <AsCommand commands={[`twinyard describe endpoint ${name} --workspace ${workspace}`]} />
    </>
  );
}
