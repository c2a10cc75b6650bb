import { useLive } from '../../api/live';
import { useGet } from '../../api/queries';
import type { Traffic } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { milliseconds, percent, short, whole } from '../../parts/format';
import { Stat, Stats } from '../../parts/stat';
import { Failure, Loading } from '../../parts/states';
import { CostToday } from './cost-today';
import { EndpointTable } from './endpoint-table';
import { RecentEvents } from './recent-events';

/** Is it well? */
export function OverviewPage() {
  const followed = useLive(({ traffic }) => traffic);
  const first = useGet<Traffic>('traffic?limit=1000');
  const traffic = followed ?? first.data;
  if (traffic === undefined || traffic === null) {
    return first.error === null ? <Loading /> : <Failure error={first.error} onRetry={() => void first.refetch()} />;
  }
  const { items, series, total } = traffic;
  return (
    <>
      <PageHead title="Overview" about="Rates over the last minute, courses over the last half hour" />
      <Stats>
        <Stat
          name="Replicas ready"
          value={`${total.ready} / ${total.replicas}`}
          note={`${items.length} ${items.length === 1 ? 'endpoint' : 'endpoints'}`}
        />
        <Stat name="Requests" value={short(total.requests_per_s)} unit="/s" series={series.requests_per_s} />
        <Stat
          name="Output tokens"
          value={short(total.output_tokens_per_s)}
          unit="/s"
          series={series.output_tokens_per_s}
        />
        <Stat
          name="First token, median"
          value={milliseconds(total.ttft_p50_ms)}
          note={`p95 ${milliseconds(total.ttft_p95_ms)}`}
          series={series.ttft_p50_ms}
        />
        <Stat name="In flight" value={whole(total.in_flight)} note={`${whole(total.queued)} queued`} />
        <Stat name="KV cache used" value={percent(total.kv_used)} note="mean of the replicas" />
        <Stat
          name="Errors"
          value={short(total.errors_per_s)}
          unit="/s"
          note={`${short(total.refused_per_s)} /s refused`}
          series={series.errors_per_s}
          tone="bad"
        />
        <CostToday />
      </Stats>
      <EndpointTable items={items} />
      <RecentEvents />
      <AsCommand commands={['twinyard top', 'twinyard get endpoints', 'twinyard events']} />
    </>
  );
}
