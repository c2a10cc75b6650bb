import type { ReactNode } from 'react';
import { Sparkline } from './sparkline';

interface StatProps {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly note?: ReactNode;
  readonly series?: readonly (number | null)[];
  readonly tone?: 'info' | 'bad';
}

/** Numbers side by side. */
export function Stats({ children }: { readonly children: ReactNode }) {
  return <dl className="stats">{children}</dl>;
}

export function Stat({ name, note, series, tone = 'info', unit, value }: StatProps) {
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd>
        {value}
        {unit === undefined ? null : <span className="unit"> {unit}</span>}
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
