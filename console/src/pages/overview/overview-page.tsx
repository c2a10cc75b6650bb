import { getRouteApi, Navigate } from '@tanstack/react-router';
import { useBestRole } from '../../api/access';
import { withQuery } from '../../api/client';
import { useLive } from '../../api/live';
import { useGet } from '../../api/queries';
import type { Traffic } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { flag, inWorkspace } from '../../parts/commands';
import { milliseconds, percent, short, whole } from '../../parts/format';
import { Stat, Stats } from '../../parts/stat';
import { Failure, Loading } from '../../parts/states';
import { useMayAudit } from '../../parts/use-may-audit';
import { CostToday } from './cost-today';
import { EndpointTable } from './endpoint-table';
import { RecentChanges, SHOWN_CHANGES } from './recent-changes';

const route = getRouteApi('/');

/** Is it well? */
export function OverviewPage() {
  const isViewer = useBestRole() !== 'none';
  return isViewer ? <Fleet /> : <Navigate to="/keys" replace />;
}

function Fleet() {
  const { workspace } = route.useSearch();
  const mayAudit = useMayAudit(workspace);
  const followed = useLive(({ traffic }) => traffic);
  const path = withQuery('traffic', { workspace, limit: 1000 });
  const first = useGet<Traffic>(path);
  const traffic = followed ?? first.data;
  if (traffic === undefined || traffic === null) {
    return first.error === null ? <Loading /> : <Failure error={first.error} onRetry={() => void first.refetch()} />;
  }
  const { items, series, total } = traffic;
  const everywhere = workspace === undefined ? ' -A' : inWorkspace(workspace);
  return (
    <>
      <PageHead
        title="Overview"
        about={`Rates over the last minute, courses over the last half hour${workspace === undefined ? '' : `; only workspace ${workspace}`}`}
      />
      <Stats>
        <Stat
          name="Replicas ready"
          value={`${total.ready} / ${total.replicas}`}
          note={`${items.length} ${items.length === 1 ? 'endpoint' : 'endpoints'}`}
        />
        <Stat
          name="Requests"
          value={short(total.requests_per_s)}
          exact={total.requests_per_s}
          unit="/s"
          series={series.requests_per_s}
        />
        <Stat
          name="Output tokens"
          value={short(total.output_tokens_per_s)}
          exact={total.output_tokens_per_s}
          unit="/s"
          series={series.output_tokens_per_s}
        />
        <Stat
          name="First token, median"
          value={milliseconds(total.ttft_p50_ms)}
          exact={total.ttft_p50_ms}
          note={`p95 ${milliseconds(total.ttft_p95_ms)}`}
          series={series.ttft_p50_ms}
        />
        <Stat
          name="In flight"
          value={whole(total.in_flight)}
          exact={total.in_flight}
          note={`${whole(total.queued)} queued`}
        />
        <Stat name="KV cache used" value={percent(total.kv_used)} exact={total.kv_used} note="mean of the replicas" />
        <Stat
          name="Errors"
          value={short(total.errors_per_s)}
          exact={total.errors_per_s}
          unit="/s"
          note={`${short(total.refused_per_s)} /s refused`}
          series={series.errors_per_s}
          tone="bad"
        />
        <CostToday workspace={workspace} />
      </Stats>
      <EndpointTable items={items} />
      <RecentChanges workspace={workspace} />
      <AsCommand
        commands={[
          'twinyard top',
          `twinyard get endpoints${everywhere}`,
          `twinyard events${everywhere} --limit ${SHOWN_CHANGES}`,
          ...(mayAudit ? [`twinyard events --audit${flag('workspace', workspace)} --limit ${SHOWN_CHANGES}`] : []),
        ]}
        calls={[path]}
      />
    </>
  );
}
