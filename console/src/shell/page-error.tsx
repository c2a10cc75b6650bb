import type { ErrorComponentProps } from '@tanstack/react-router';
import { Button } from '../parts/basics';

/** A page of a former version of the console is not there any more, or the gateway cannot be reached. */
export class PageMissing extends Error {
  constructor() {
    super('The page could not be loaded: the gateway was updated, or cannot be reached.');
  }
}

/** Instead of a page that failed. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{error instanceof PageMissing ? error.message : 'The page has failed.'}</strong>
        {error instanceof PageMissing ? null : <span className="failure-hint"> {String(error)}</span>}
      </p>
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  );
}
