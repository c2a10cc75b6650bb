import { useRef } from 'react';
import { useLive } from '../api/live';
import { useSession } from '../api/queries';
import { Button } from '../parts/basics';

/** What concerns every page. */
export function Notices() {
  const isLost = useLive((snapshot) => snapshot.state === 'lost');
  const isUpdated = useUpdated();
  return (
    <div role="status" className="lost-place">
      {isLost ? (
        <p className="lost">
          The connection to the gateway is lost; the page shows what was known last. It connects again by itself.
        </p>
      ) : null}
      {isUpdated ? (
        <p className="lost updated">
          The gateway was updated: reload, so that the console fits it.{' '}
          <Button onClick={() => location.reload()}>Reload</Button>
        </p>
      ) : null}
    </div>
  );
}

/** Whether the gateway has another version than when the console was opened. */
function useUpdated(): boolean {
  const { data } = useSession();
  const first = useRef<string>(undefined);
  if (data === null || data === undefined) return false;
  first.current ??= data.version;
  return data.version !== first.current;
}
