import { type ButtonHTMLAttributes, type ReactNode, useRef } from 'react';
import { tableText, useCopy } from './copy';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
}

export function Button({ className = '', look = 'plain', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button button-${look} ${className}`} {...rest} />;
}

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';

/** A state in one word, with a dot for the eye and the word for everybody else. */
export function Badge({ children, tone, title }: { children: ReactNode; tone: Tone; title?: string }) {
  return (
    <span className={`badge badge-${tone}`} title={title}>
      <span className="dot" aria-hidden="true" />
      {children}
    </span>
  );
}

/** A share as a bar. The number stands beside it: the bar itself says nothing to a screen reader. */
export function Bar({ share, tone = 'info' }: { readonly share: number; readonly tone?: Tone }) {
  const width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  return (
    <span className="bar" aria-hidden="true">
      <span className={`bar-fill bar-${tone}`} style={{ width }} />
    </span>
  );
}

export function Card({
  actions,
  children,
  title,
}: {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="card">
      {title === undefined ? null : (
        <header className="card-head">
          <h2>{title}</h2>
          <div className="card-actions">{actions}</div>
        </header>
      )}
      {children}
    </section>
  );
}

export function PageHead({
  actions,
  about,
  title,
}: {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <header className="page-head">
      <div className="page-title">
        <h1 tabIndex={-1}>{title}</h1>
        {about === undefined ? null : <p className="muted">{about}</p>}
      </div>
      <div className="page-actions">{actions}</div>
    </header>
  );
}

/** The head of a column of numbers, aligned as they are. */
export function NumberHead({ children }: { readonly children: ReactNode }) {
  return (
    <th scope="col" className="number">
      {children}
    </th>
  );
}

/** A place that scrolls sideways where its table is wider, also by the keyboard. Its numbers can be copied. */
export function TablePlace({ children, name }: { readonly name: string; readonly children: ReactNode }) {
  const place = useRef<HTMLElement>(null);
  const [said, copy] = useCopy();
  return (
    <div className="table-frame">
      <button
        type="button"
        className="table-copy"
        aria-label={`Copy ${name}`}
        title="Copy the table, for a spreadsheet"
        onClick={() => {
          const table = place.current?.querySelector('table');
          if (table !== null && table !== undefined) void copy(tableText(table));
        }}
      >
        {said ?? 'Copy'}
      </button>
      <section ref={place} className="table-place" aria-label={name} tabIndex={0}>
        {children}
      </section>
    </div>
  );
}
