import { useLive } from '../../api/live';
import type { LiveEndpoint } from '../../api/types';
import { milliseconds, percent, short, whole } from '../../parts/format';
import { Stat, Stats } from '../../parts/stat';

/** The rates of an endpoint over the last minute. */
export function EndpointStats({ endpoint }: { readonly endpoint: LiveEndpoint }) {
  const { name, workspace } = endpoint;
  const rates = useLive(({ traffic }) => traffic)?.items.find(
    (one) => one.name === name && one.workspace === workspace,
  );
  return (
    <Stats>
      <Stat name="Requests" value={short(rates?.requests_per_s ?? 0)} exact={rates?.requests_per_s ?? 0} unit="/s" />
      <Stat
        name="Output tokens"
        value={short(rates?.output_tokens_per_s ?? 0)}
        exact={rates?.output_tokens_per_s ?? 0}
        unit="/s"
      />
      <Stat
        name="First token, median"
        value={milliseconds(rates?.ttft_p50_ms ?? null)}
        exact={rates?.ttft_p50_ms}
        note={`p95 ${milliseconds(rates?.ttft_p95_ms ?? null)}`}
      />
      <Stat
        name="In flight"
        value={whole(endpoint.in_flight)}
        exact={endpoint.in_flight}
        note={`${queuedIn(endpoint)} queued`}
      />
      <Stat name="KV cache used" value={percent(rates?.kv_used ?? null)} exact={rates?.kv_used} />
      <Stat name="Errors" value={short(rates?.errors_per_s ?? 0)} exact={rates?.errors_per_s ?? 0} unit="/s" />
    </Stats>
  );
}

const queuedIn = ({ queued }: LiveEndpoint) => whole(Object.values(queued).reduce((sum, one) => sum + one, 0));
