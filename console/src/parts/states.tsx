import type { ReactNode } from 'react';
import { ApiFailure } from '../api/client';
import { Button } from './basics';
import { Command } from './command';

/** Nothing to show yet: what to do first. */
export function Empty({ children, command, title }: { title: string; children?: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children === undefined ? null : <p className="muted">{children}</p>}
      {command === undefined ? null : <Command text={command} />}
    </div>
  );
}

const ENDED = new ApiFailure(401, 'SESSION_ENDED', 'Your session has ended', 'log in again');

/** An error of the API: what is wrong and what to do. */
export function Failure({ error: given, onRetry }: { readonly error: ApiFailure; readonly onRetry?: () => void }) {
  const error = given.status === 401 ? ENDED : given;
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{error.message}</strong>
        {error.hint === '' || error.hint === undefined ? null : <span className="failure-hint"> {error.hint}</span>}
      </p>
      {error.problems?.length > 1 ? (
        <ul>
          {error.problems.map(({ place, problem, hint }) => (
            <li key={`${place} ${problem}`}>
              <code>{place}</code>: {problem}
              {hint === '' ? '' : `; ${hint}`}
            </li>
          ))}
        </ul>
      ) : null}
      {onRetry === undefined ? null : <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <div className="loading" role="status">
      <span className="spinner" aria-hidden="true" />
      {what}…
    </div>
  );
}
