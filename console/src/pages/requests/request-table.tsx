import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef } from 'react';
import type { PastRequest } from '../../api/types';
import { useCopy } from '../../parts/copy';
import { COLUMNS, requestText } from './request-columns';

const ROW_PX = 32;
/** Further rows are read when so many are left below the last one in view. */
const AHEAD = 60;

const WIDTH = COLUMNS.reduce((sum, { width }) => sum + width, 0);

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
  const last = rows.range?.endIndex ?? 0;
  const isTop = (rows.scrollOffset ?? 0) < ROW_PX;
  useEffect(() => onTop(isTop), [isTop, onTop]);
  useEffect(() => {
    if (!isTop && last >= requests.length - AHEAD) onEnd();
  }, [isTop, last, requests.length, onEnd]);
  const [said, copy] = useCopy();
  const above = shown[0]?.start ?? 0;
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <div className="table-frame">
      <button
        type="button"
        className="table-copy"
        aria-label="Copy Requests"
        title="Copy the rows that were read, for a spreadsheet"
        onClick={() => void copy(requestText(requests))}
      >
        {said ?? 'Copy'}
      </button>
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
    </div>
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
