import { getRouteApi } from '@tanstack/react-router';
import { useBestRole } from '../../api/access';
import { withQuery } from '../../api/client';
import { useGet } from '../../api/queries';
import type { Page } from '../../api/types';
import { Bar, Button, Card, NumberHead, TablePlace } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { flag } from '../../parts/commands';
import { NothingSent } from '../../parts/first-request';
import { dollars, short, whole } from '../../parts/format';
import { Stat, Stats } from '../../parts/stat';
import { Failure, Loading } from '../../parts/states';

const route = getRouteApi('/keys');

interface Counts {
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly dollars: number;
}

type Usage = Page<Counts & Readonly<Record<string, string | number>>> & { readonly total: Counts };

const DIMENSIONS = ['key', 'model', 'endpoint', 'day', 'outcome'] as const;
const DAY_MS = 86_400_000;

/** What was used: the sum is of the whole range, not of the rows in view. Days are UTC. */
export function UsagePart() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isOwn = useBestRole() === 'none';
  const today = new Date();
  const { by = 'day', cursor, from = dayOf(today.getTime() - 29 * DAY_MS), key, to = dayOf(today.getTime()) } = search;
  const workspace = search.workspace;
  const query = { by, from, to, cursor, limit: 100 };
  const path = isOwn ? withQuery('usage/own', query) : withQuery('usage', { ...query, key, workspace });
  const { data, error, refetch } = useGet<Usage>(path, { keepsFormer: true, everyMs: 10_000 });
  const set = (change: typeof search) =>
    void navigate({ search: (before) => ({ ...before, ...change, cursor: undefined }), replace: true });
  // Without the flag a command sums up all workspaces, with it also `default`.
  const narrowed = `${flag('workspace', workspace)}${flag('key', key)}`;
  return (
    <>
      <div className="filters">
        <label className="field">
          <span>From, UTC</span>
          <input type="date" value={from} max={to} onChange={({ target }) => set({ from: target.value })} />
        </label>
        <label className="field">
          <span>To, UTC</span>
          <input type="date" value={to} min={from} onChange={({ target }) => set({ to: target.value })} />
        </label>
        <label className="field">
          <span>By</span>
          <select value={by} onChange={({ target }) => set({ by: target.value })}>
            {DIMENSIONS.filter((one) => !isOwn || one !== 'key').map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {key === undefined ? null : (
          <label className="field">
            <span>Only of the key with the id</span>
            <input type="search" value={key} onChange={({ target }) => set({ key: target.value || undefined })} />
          </label>
        )}
      </div>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <>
          <Stats>
            <Stat
              name="Cost"
              value={dollars(data.total.dollars)}
              exact={data.total.dollars}
              note="of the whole range"
            />
            <Stat name="Requests" value={whole(data.total.requests)} exact={data.total.requests} />
            <Stat
              name="Prompt tokens"
              value={short(data.total.input_tokens)}
              exact={data.total.input_tokens}
              note={`${short(data.total.cached_tokens)} cached`}
            />
            <Stat name="Output tokens" value={short(data.total.output_tokens)} exact={data.total.output_tokens} />
          </Stats>
          <Card
            title={`By ${by}`}
            actions={
              <>
                {cursor === undefined ? null : <Button onClick={() => set({})}>First</Button>}
                <Button
                  disabled={data.next === null}
                  onClick={() => void navigate({ search: (before) => ({ ...before, cursor: data.next ?? undefined }) })}
                >
                  Next
                </Button>
              </>
            }
          >
            {data.items.length === 0 ? (
              <NothingSent title="Nothing was used in this range">
                Requests appear here a few seconds after they end.
              </NothingSent>
            ) : (
              <UsageTable usage={data} by={by} />
            )}
          </Card>
        </>
      )}
      <AsCommand
        commands={
          isOwn ? [] : [`twinyard keys usage${narrowed}${flag('by', by)}${flag('from', from)}${flag('to', to)}`]
        }
        calls={[path]}
      />
    </>
  );
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function UsageTable({ by, usage }: { readonly usage: Usage; readonly by: string }) {
  const most = Math.max(1, ...usage.items.map(({ requests }) => requests));
  return (
    <TablePlace name="Usage">
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">{by}</th>
            <NumberHead>Requests</NumberHead>
            <NumberHead>Prompt tokens</NumberHead>
            <NumberHead>Cached</NumberHead>
            <NumberHead>Output tokens</NumberHead>
            <NumberHead>Cost</NumberHead>
          </tr>
        </thead>
        <tbody>
          {usage.items.map((one) => (
            <tr key={String(one[by])}>
              <td className="cut" title={String(one[by])}>
                {String(one.key_name ?? one[by]) || <span className="muted">none</span>}
              </td>
              <td className="number">
                <span className="measure">
                  <Bar share={one.requests / most} />
                  {whole(one.requests)}
                </span>
              </td>
              <td className="number">{whole(one.input_tokens)}</td>
              <td className="number">{whole(one.cached_tokens)}</td>
              <td className="number">{whole(one.output_tokens)}</td>
              <td className="number">{dollars(one.dollars)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
