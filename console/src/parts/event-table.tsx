import type { ResourceEvent } from '../api/types';
import { Badge, NumberHead, TablePlace } from './basics';
import { Empty } from './states';
import { Time } from './time';

export function EventTable({ events }: { readonly events: readonly ResourceEvent[] }) {
  if (events.length === 0) {
    return (
      <Empty title="Nothing has happened yet" command="twinyard events --watch">
        Events of resources appear here, and in the terminal:
      </Empty>
    );
  }
  return (
    <TablePlace name="Events">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Resource</th>
            <th scope="col">Reason</th>
            <th scope="col">Message</th>
            <NumberHead>Count</NumberHead>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.id}>
              <td className="mono">
                <Time at={event.last_at} />
              </td>
              <td>
                <span className="muted">{event.kind} </span>
                {event.name}
              </td>
              <td>
                <Badge tone={event.type === 'warning' ? 'warn' : 'idle'}>{event.reason}</Badge>
              </td>
              <td className="message">{event.message}</td>
              <td className="number">{event.count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
