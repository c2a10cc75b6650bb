import type { ReactNode } from 'react';
import { useCopy } from './copy';
import { Sparkline } from './sparkline';

interface StatProps {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly note?: ReactNode;
  readonly series?: readonly (number | null)[];
  readonly tone?: 'info' | 'bad';
  /** What a click on the number copies: all of its digits. The shown text without it. */
  readonly exact?: number | string | null;
}

/** Numbers side by side. */
export function Stats({ children }: { readonly children: ReactNode }) {
  return <dl className="stats">{children}</dl>;
}

export function Stat({ exact, name, note, series, tone = 'info', unit, value }: StatProps) {
  const [said, copy] = useCopy();
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd>
        <button
          type="button"
          className="stat-copy"
          title="Copy the number"
          aria-label={`${value}${unit === undefined ? '' : ` ${unit}`}: copy`}
          onClick={() => void copy(String(exact ?? value))}
        >
          {said?.toLowerCase() ?? value}
          {unit === undefined || said !== null ? null : <span className="unit"> {unit}</span>}
        </button>
      </dd>
      {note === undefined ? null : <dd className="note">{note}</dd>}
      {series === undefined ? null : (
        <dd>
          <Sparkline values={series} tone={tone} />
        </dd>
      )}
    </div>
  );
}
