import { Link } from '@tanstack/react-router';
import { withQuery } from '../api/client';
import { useGet } from '../api/queries';
import type { Page, ResourceEvent } from '../api/types';
import { Card } from './basics';
import { EventTable } from './event-table';
import { Failure, Loading } from './states';

/** The events of one resource. */
export function EventList({ kind, name, workspace }: { kind: string; name: string; workspace: string | undefined }) {
  const path = withQuery('events', { kind, workspace, name, limit: 100 });
  const { data, error, refetch } = useGet<Page<ResourceEvent>>(path);
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <Card
      title="Events, the latest first"
      actions={
        <Link to="/changes" search={{ kind, name, workspace }} className="button">
          All changes
        </Link>
      }
    >
      <EventTable events={data.items} />
    </Card>
  );
}
