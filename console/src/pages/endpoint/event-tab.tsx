import { withQuery } from '../../api/client';
import { useGet } from '../../api/queries';
import type { Page, ResourceEvent } from '../../api/types';
import { Card } from '../../parts/basics';
import { EventTable } from '../../parts/event-table';
import { Failure, Loading } from '../../parts/states';

export function EventTab({ name, workspace }: { readonly workspace: string; readonly name: string }) {
  const path = withQuery('events', { kind: 'Endpoint', workspace, name, limit: 100 });
  const { data, error, refetch } = useGet<Page<ResourceEvent>>(path);
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <Card title="Events, the latest first">
      <EventTable events={data.items} />
    </Card>
  );
}
