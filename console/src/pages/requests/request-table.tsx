import { Link } from '@tanstack/react-router';
import { createColumnHelper, flexRender, getCoreRowModel, useReactTable } from '@tanstack/react-table';
import type { PastRequest } from '../../api/types';
import { Bar, TablePlace } from '../../parts/basics';
import { milliseconds, percent, whole } from '../../parts/format';
import { Outcome } from '../../parts/outcome';
import { Time } from '../../parts/time';

const column = createColumnHelper<PastRequest>();
const NUMBERS = new Set(['ttft_ms', 'duration_ms', 'queue_ms', 'input_tokens', 'cached', 'output_tokens']);

const columns = [
  column.accessor('at', { header: 'Time', cell: ({ getValue }) => <Time at={getValue()} hasMs /> }),
  column.accessor('id', {
    header: 'Request',
    cell: ({ getValue }) => (
      <Link to="/requests/$id" params={{ id: getValue() }} className="mono cut" title={getValue()}>
        {getValue()}
      </Link>
    ),
  }),
  column.accessor('outcome', {
    header: 'Outcome',
    cell: ({ row: { original } }) => <Outcome outcome={original.outcome} status={original.status} />,
  }),
  column.accessor('endpoint', { header: 'Endpoint' }),
  column.accessor('replica', {
    header: 'Replica',
    cell: ({ getValue }) => getValue() ?? <span className="muted">–</span>,
  }),
  column.accessor('queue_ms', { header: 'Queue', cell: ({ getValue }) => milliseconds(getValue()) }),
  column.accessor('ttft_ms', { header: 'First token', cell: ({ getValue }) => milliseconds(getValue()) }),
  column.accessor('duration_ms', { header: 'Duration', cell: ({ getValue }) => milliseconds(getValue()) }),
  column.accessor('input_tokens', { header: 'Prompt', cell: ({ getValue }) => whole(getValue()) }),
  column.display({
    id: 'cached',
    header: 'Cached',
    cell: ({ row: { original } }) => {
      const share = original.input_tokens === 0 ? 0 : original.cached_tokens / original.input_tokens;
      return (
        <span className="measure">
          <Bar share={share} tone="good" />
          {percent(share)}
        </span>
      );
    },
  }),
  column.accessor('output_tokens', { header: 'Output', cell: ({ getValue }) => whole(getValue()) }),
];

export function RequestTable({ requests }: { readonly requests: readonly PastRequest[] }) {
  const table = useReactTable({ data: requests as PastRequest[], columns, getCoreRowModel: getCoreRowModel() });
  return (
    <TablePlace name="Requests">
      <table className="table table-dense">
        <thead>
          {table.getHeaderGroups().map(({ headers, id }) => (
            <tr key={id}>
              {headers.map(({ column: { columnDef, id: name }, getContext }) => (
                <th key={name} scope="col" className={NUMBERS.has(name) ? 'number' : ''}>
                  {flexRender(columnDef.header, getContext())}
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getVisibleCells().map(({ column: { columnDef, id }, getContext }) => (
                <td key={id} className={NUMBERS.has(id) ? 'number' : id === 'at' ? 'mono nowrap' : ''}>
                  {flexRender(columnDef.cell, getContext())}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
