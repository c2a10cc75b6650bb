import type { ApiFailure } from '../../api/client';
import { useGet } from '../../api/queries';
import { Bar, Card, NumberHead, TablePlace } from '../../parts/basics';
import { milliseconds, short } from '../../parts/format';
import { Empty, Failure, Loading } from '../../parts/states';
import { limitName } from './key-list';

interface Limits {
  readonly limits: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly limit: number; readonly used: number; readonly left: number; readonly reset_s: number | null }
        >
      >
    >
  >;
}

const amount = (name: string, value: number) => (name.startsWith('dollars') ? `$${value.toFixed(4)}` : short(value));

/** The budget of a key, with what is used of it. @param path of the limits in the API */
export function LimitList({ path }: { readonly path: string }) {
  const { data, error, refetch } = useGet<Limits>(path, { everyMs: 3000 });
  const rows = Object.entries(data?.limits ?? {}).flatMap(([model, own]) =>
    Object.entries(own).map(([name, one]) => ({ model, name, ...one })),
  );
  return (
    <Card title="Limits and what is used of them">
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <NoLimits error={error} onRetry={() => void refetch()} />
        )
      ) : rows.length === 0 ? (
        <Empty title="No limit" command="twinyard keys update NAME --tokens-per-day 1000000">
          It may use all it wants.
        </Empty>
      ) : (
        <TablePlace name="Limits">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Limit</th>
                <th scope="col">Model</th>
                <NumberHead>Used</NumberHead>
                <NumberHead>Left</NumberHead>
                <NumberHead>Limit</NumberHead>
                <NumberHead>Resets in</NumberHead>
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={`${one.model} ${one.name}`}>
                  <td>{limitName(one.name)}</td>
                  <td>{one.model === '*' ? <span className="muted">all together</span> : one.model}</td>
                  <td className="number">
                    <span className="measure">
                      <Bar share={one.used / one.limit} tone={one.used >= 0.9 * one.limit ? 'bad' : 'info'} />
                      {amount(one.name, one.used)}
                    </span>
                  </td>
                  <td className="number">{amount(one.name, one.left)}</td>
                  <td className="number">{amount(one.name, one.limit)}</td>
                  <td className="number">{one.reset_s === null ? '–' : milliseconds(1000 * one.reset_s)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
    </Card>
  );
}

/** A gateway that asks for no keys counts none. */
function NoLimits({ error, onRetry }: { readonly error: ApiFailure; readonly onRetry: () => void }) {
  if (error.code !== 'API_NO_KEYS') return <Failure error={error} onRetry={onRetry} />;
  return (
    <Empty title="Limits are not counted here">
      {error.message}: set access.keys to required in the file of the gateway.
    </Empty>
  );
}
