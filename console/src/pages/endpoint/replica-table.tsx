import type { Replica } from '../../api/types';
import { Badge, Bar, Button, NumberHead, TablePlace, type Tone } from '../../parts/basics';
import { percent, whole } from '../../parts/format';
import { Empty } from '../../parts/states';

const TONES: Record<Replica['state'], Tone> = { ready: 'good', starting: 'info', draining: 'warn', unhealthy: 'bad' };

/** Replicas with bars that move: the longest is the fullest of them all. */
export function ReplicaTable({
  first,
  leaving,
  onDrain,
  replicas,
}: {
  readonly replicas: readonly Replica[];
  /** Those that leave as soon as another one serves in their place. */
  readonly leaving: ReadonlySet<string>;
  /** Null where the visitor may not. */
  readonly onDrain: ((id: string) => void) | null;
  /** The command that starts the first one; null where none does. */
  readonly first: string | null;
}) {
  if (replicas.length === 0) {
    return (
      <Empty title="No replica yet" {...(first === null ? {} : { command: first })}>
        They appear here as soon as they start.
      </Empty>
    );
  }
  const sorted = [...replicas].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const most = Math.max(
    1,
    ...sorted.map((one) => Math.max(one.in_flight, one.signals?.running ?? 0, one.signals?.waiting ?? 0)),
  );
  return (
    <TablePlace name="Replicas">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Replica</th>
            <th scope="col">State</th>
            <NumberHead>In flight</NumberHead>
            <NumberHead>Running</NumberHead>
            <NumberHead>Queue</NumberHead>
            <NumberHead>KV used</NumberHead>
            <NumberHead>Hit rate</NumberHead>
            <th scope="col">Breaker</th>
            <th scope="col">Why</th>
            {onDrain === null ? null : (
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {sorted.map((one) => (
            <Row key={one.id} one={one} most={most} isLeaving={leaving.has(one.id)} onDrain={onDrain} />
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}

function Row({
  isLeaving,
  most,
  onDrain,
  one,
}: {
  readonly one: Replica;
  readonly most: number;
  readonly isLeaving: boolean;
  readonly onDrain: ((id: string) => void) | null;
}) {
  const { signals } = one;
  const why = one.problem || one.suspect || (isLeaving ? 'drained: leaves as soon as another one serves' : '');
  const isGoing = one.leaving || isLeaving;
  return (
    <tr>
      <td>
        <span className="nowrap" title={one.url}>
          {one.id}
        </span>{' '}
        <span className="muted">{one.engine}</span>
      </td>
      <td>
        <Badge tone={isGoing ? 'warn' : TONES[one.state]}>{isGoing ? 'leaving' : one.state}</Badge>
      </td>
      <Count value={one.in_flight} most={most} />
      <Count value={signals?.running ?? null} most={most} />
      <Count value={signals?.waiting ?? null} most={most} />
      <td className="number">
        <span className="measure">
          <Bar share={signals?.kvUsed ?? 0} tone={(signals?.kvUsed ?? 0) > 0.9 ? 'bad' : 'info'} />
          {percent(signals?.kvUsed ?? null)}
        </span>
      </td>
      <td className="number">{percent(signals?.cacheHitRate ?? null)}</td>
      <td>{one.breaker === 'open' ? <Badge tone="bad">open</Badge> : <span className="muted">closed</span>}</td>
      <td className="cut" title={why}>
        {why === '' ? <span className="muted">–</span> : why}
      </td>
      {onDrain === null ? null : (
        <td className="number">
          {isGoing ? null : (
            <Button look="quiet" onClick={() => onDrain(one.id)} aria-label={`Drain ${one.id}`}>
              Drain
            </Button>
          )}
        </td>
      )}
    </tr>
  );
}

function Count({ most, value }: { readonly value: number | null; readonly most: number }) {
  return (
    <td className="number">
      <span className="measure">
        <Bar share={(value ?? 0) / most} />
        {value === null ? '–' : whole(value)}
      </span>
    </td>
  );
}
