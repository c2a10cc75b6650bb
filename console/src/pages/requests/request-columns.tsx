import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PastRequest } from '../../api/types';
import { Bar } from '../../parts/basics';
import { textOfRows } from '../../parts/copy';
import { milliseconds, percent, whole } from '../../parts/format';
import { Outcome } from '../../parts/outcome';
import { Time } from '../../parts/time';

interface Column {
  readonly name: string;
  readonly width: number;
  readonly isNumber?: boolean;
  readonly cell: (request: PastRequest) => ReactNode;
  /** What is copied: all digits, as the API returns them. */
  readonly exact: (request: PastRequest) => string | number | null;
}

type Measure = 'queue_ms' | 'ttft_ms' | 'duration_ms' | 'input_tokens' | 'output_tokens';

const measure = (name: string, width: number, of: Measure, shown: (value: number) => string): Column => ({
  ...{ name, width, isNumber: true },
  cell({ [of]: value }) {
    return value === null ? '–' : shown(value);
  },
  exact: ({ [of]: value }) => value,
});

export const COLUMNS: readonly Column[] = [
  { name: 'Time', width: 150, cell: ({ at }) => <Time at={at} hasMs />, exact: ({ at }) => at },
  {
    name: 'Request',
    width: 190,
    cell: ({ id }) => (
      <Link to="/requests/$id" params={{ id }} className="mono" title={id} preload={false}>
        {id}
      </Link>
    ),
    exact: ({ id }) => id,
  },
  {
    name: 'Outcome',
    width: 150,
    cell: ({ outcome, status }) => <Outcome outcome={outcome} status={status} />,
    exact: ({ outcome, status }) => `${outcome} ${status}`,
  },
  {
    name: 'Endpoint',
    width: 120,
    cell: ({ endpoint }) => endpoint,
    exact: ({ endpoint, workspace }) => `${workspace}/${endpoint}`,
  },
  {
    name: 'Replica',
    width: 150,
    cell: ({ replica }) => replica ?? <span className="muted">–</span>,
    exact: ({ replica }) => replica,
  },
  measure('Queue', 84, 'queue_ms', milliseconds),
  measure('First token', 96, 'ttft_ms', milliseconds),
  measure('Duration', 90, 'duration_ms', milliseconds),
  measure('Prompt', 84, 'input_tokens', whole),
  {
    ...{ name: 'Cached', width: 120, isNumber: true },
    cell: (request) => <Cached request={request} />,
    exact: ({ cached_tokens }) => cached_tokens,
  },
  measure('Output', 84, 'output_tokens', whole),
];

function Cached({ request }: { readonly request: PastRequest }) {
  const share = request.input_tokens === 0 ? 0 : request.cached_tokens / request.input_tokens;
  return (
    <span className="measure">
      <Bar share={share} tone="good" />
      {percent(share)}
    </span>
  );
}

/** A list for a spreadsheet: times in milliseconds. */
export const requestText = (requests: readonly PastRequest[]) =>
  textOfRows([
    COLUMNS.map(({ name }) => name),
    ...requests.map((one) => COLUMNS.map(({ exact }) => String(exact(one) ?? ''))),
  ]);
