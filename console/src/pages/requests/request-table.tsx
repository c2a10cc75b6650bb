import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useRef } from 'react';
import type { PastRequest } from '../../api/types';
import { Bar } from '../../parts/basics';
import { milliseconds, percent, whole } from '../../parts/format';
import { Outcome } from '../../parts/outcome';
import { Time } from '../../parts/time';

const ROW_PX = 32;
/** Further rows are read when so many are left below. */
const AHEAD = 60;

interface Column {
  readonly name: string;
  readonly width: number;
  readonly isNumber?: boolean;
  readonly cell: (request: PastRequest) => ReactNode;
}

const COLUMNS: readonly Column[] = [
  { name: 'Time', width: 150, cell: ({ at }) => <Time at={at} hasMs /> },
  {
    name: 'Request',
    width: 190,
    cell: ({ id }) => (
      <Link to="/requests/$id" params={{ id }} className="mono" title={id} preload={false}>
        {id}
      </Link>
    ),
  },
  { name: 'Outcome', width: 150, cell: ({ outcome, status }) => <Outcome outcome={outcome} status={status} /> },
  { name: 'Endpoint', width: 120, cell: ({ endpoint }) => endpoint },
  { name: 'Replica', width: 150, cell: ({ replica }) => replica ?? <span className="muted">–</span> },
  { name: 'Queue', width: 84, isNumber: true, cell: ({ queue_ms }) => milliseconds(queue_ms) },
  { name: 'First token', width: 96, isNumber: true, cell: ({ ttft_ms }) => milliseconds(ttft_ms) },
  { name: 'Duration', width: 90, isNumber: true, cell: ({ duration_ms }) => milliseconds(duration_ms) },
  { name: 'Prompt', width: 84, isNumber: true, cell: ({ input_tokens }) => whole(input_tokens) },
  { name: 'Cached', width: 120, isNumber: true, cell: (request) => <Cached request={request} /> },
  { name: 'Output', width: 84, isNumber: true, cell: ({ output_tokens }) => whole(output_tokens) },
];
const WIDTH = COLUMNS.reduce((sum, { width }) => sum + width, 0);

function Cached({ request }: { readonly request: PastRequest }) {
  const share = request.input_tokens === 0 ? 0 : request.cached_tokens / request.input_tokens;
  return (
    <span className="measure">
      <Bar share={share} tone="good" />
      {percent(share)}
    </span>
  );
}

interface RequestTableProps {
  readonly requests: readonly PastRequest[];
  /** How many there are on all pages; -1 when that is not known. */
  readonly total: number;
  /** Called when the end comes near. */
  readonly onEnd: () => void;
  /** Whether the first row is in view. */
  readonly onTop: (isTop: boolean) => void;
}

/** Any number of rows: only those in view are in the document. */
export function RequestTable({ onEnd, onTop, requests, total }: RequestTableProps) {
  const place = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: requests.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= requests.length - AHEAD) onEnd();
  }, [last, requests.length, onEnd]);
  const isTop = (rows.scrollOffset ?? 0) < ROW_PX;
  useEffect(() => onTop(isTop), [isTop, onTop]);
  const above = shown[0]?.start ?? 0;
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <section ref={place} className="table-place table-tall" aria-label="Requests" tabIndex={0}>
      <table
        className="table table-dense table-fixed"
        aria-rowcount={total < 0 ? -1 : total + 1}
        style={{ minWidth: WIDTH }}
      >
        <colgroup>
          {COLUMNS.map(({ name, width }) => (
            <col key={name} style={{ width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map(({ isNumber = false, name }) => (
              <th key={name} scope="col" className={isNumber ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={above} />
          {shown.map(({ index }) => (
            <Row key={index} index={index} request={requests[index]!} />
          ))}
          <Gap height={below} />
        </tbody>
      </table>
    </section>
  );
}

/** The room of rows that are out of view. */
function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr className="gap">
      <td colSpan={COLUMNS.length} style={{ height }} />
    </tr>
  );
}

const Row = memo(function Row({ index, request }: { readonly index: number; readonly request: PastRequest }) {
  return (
    <tr aria-rowindex={index + 2} style={{ height: ROW_PX }}>
      {COLUMNS.map(({ cell, isNumber = false, name }) => (
        <td key={name} className={isNumber ? 'number' : name === 'Time' ? 'mono' : ''}>
          {cell(request)}
        </td>
      ))}
    </tr>
  );
});
