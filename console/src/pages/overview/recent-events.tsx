import { useGet, useSession } from '../../api/queries';
import type { Page, ResourceEvent } from '../../api/types';
import { Card } from '../../parts/basics';
import { EventTable } from '../../parts/event-table';
import { Failure } from '../../parts/states';

/** What changed. */
export function RecentEvents() {
  const { data: session } = useSession();
  const { data, error } = useGet<Page<ResourceEvent>>(session?.has_store === true ? 'events?limit=12' : null);
  if (session?.has_store !== true) return null;
  return (
    <Card title="What changed">
      {error === null ? <EventTable events={data?.items ?? []} /> : <Failure error={error} />}
    </Card>
  );
}
