import type { Condition } from '../api/types';
import { Badge, Card, TablePlace } from './basics';
import { Time } from './time';

/** The conditions of a resource, as the control plane observed them. */
export function Conditions({ conditions }: { readonly conditions: readonly Condition[] }) {
  if (conditions.length === 0) return null;
  return (
    <Card title="Conditions">
      <TablePlace name="Conditions">
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">Condition</th>
              <th scope="col">Holds</th>
              <th scope="col">Since</th>
              <th scope="col">Reason</th>
              <th scope="col">Message</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map((one) => (
              <tr key={one.type}>
                <td>{one.type}</td>
                <td>
                  <Badge tone={one.status ? 'good' : 'warn'}>{one.status ? 'yes' : 'no'}</Badge>
                </td>
                <td className="mono nowrap">
                  <Time at={one.since} />
                </td>
                <td>{one.reason}</td>
                <td>{one.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TablePlace>
    </Card>
  );
}
