import { useEffect, useState } from 'react';
import { type ApiFailure, withQuery } from './client';
import { useLive } from './live';
import { mayPass } from './queries';
import { refusalOf } from './refusal';
import { whileInView } from './while-in-view';

/** Older lines make room. */
const MOST_LINES = 10_000;
/** Lines of each replica to start with. */
const TAIL = 500;
const FLUSH_MS = 150;
const RETRY_MS = 2000;

export interface LogLine {
  readonly replica: string;
  readonly line: string;
}

interface FollowedLog {
  readonly lines: readonly LogLine[];
  /** Whether it is interrupted and continues by itself. */
  readonly isLost: boolean;
  /** Why the API does not return it: it does not continue before `retry`. */
  readonly refusal: ApiFailure | null;
  readonly retry: () => void;
}

/** What the replicas of an endpoint write, as they write it. Stops with the live switch. @param base its path */
export function useLogLines(base: string, replica: string | undefined, isPrevious: boolean): FollowedLog {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [isLost, setLost] = useState(false);
  const [refusal, setRefusal] = useState<ApiFailure | null>(null);
  const [attempt, setAttempt] = useState(0);
  const isPaused = useLive(({ state }) => state === 'paused');
  // Also with another attempt.
  useEffect(() => {
    if (isPaused) return;
    setLines([]);
    setRefusal(null);
    const which = isPrevious ? { previous: true } : { follow: true, replica };
    const path = withQuery(`${base}/logs`, { ...which, tail: TAIL });
    return whileInView(() =>
      followedLog(path, {
        onOpen() {
          // A stream that is opened again starts with the last lines again.
          setLines([]);
          setLost(false);
        },
        onLines: (added) => setLines((known) => [...known, ...added].slice(-MOST_LINES)),
        onLost: () => setLost(true),
        onRefused(failure) {
          setLost(false);
          setRefusal(failure);
        },
      }),
    );
  }, [attempt, base, isPaused, isPrevious, replica]);
  return { lines, isLost, refusal, retry: () => setAttempt((one) => one + 1) };
}

interface LogListener {
  onOpen(): void;
  onLines(added: readonly LogLine[]): void;
  onLost(): void;
  onRefused(failure: ApiFailure): void;
}

/** Follows a log until the function that it returns is called. */
function followedLog(path: string, listener: LogListener): () => void {
  let source: EventSource;
  let fresh: LogLine[] = [];
  let isLeft = false;
  let again: number | undefined;
  const timer = window.setInterval(() => {
    if (fresh.length > 0) listener.onLines(fresh.splice(0));
  }, FLUSH_MS);
  const open = () => {
    source = new EventSource(`/api/v1/${path}`);
    source.onopen = () => {
      fresh = [];
      listener.onOpen();
    };
    source.onerror = () => {
      listener.onLost();
      // Where the connection was lost the browser opens it again, after a refusal it does not.
      if (source.readyState === EventSource.CLOSED) void reopen();
    };
    source.addEventListener('line', (event) => fresh.push(JSON.parse(event.data) as LogLine));
    source.addEventListener('end', () => source.close());
  };
  const reopen = async () => {
    const refusal = await refusalOf(path);
    if (isLeft) return;
    if (refusal === null || mayPass(refusal)) again = window.setTimeout(open, RETRY_MS);
    else listener.onRefused(refusal);
  };
  open();
  return () => {
    isLeft = true;
    source.close();
    window.clearInterval(timer);
    window.clearTimeout(again);
  };
}
