import type { PastRequest } from '../../api/types';
import { milliseconds } from '../../parts/format';

interface Phase {
  readonly name: string;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly tone: string;
}

/** The phases of a request by its times; what did not happen is left out. */
function phasesOf(request: PastRequest): Phase[] {
  const { dispatch_ms, duration_ms, failed_attempts, queue_ms, replica, ttft_ms } = request;
  const sent = failed_attempts[0]?.start_ms ?? dispatch_ms;
  const phases: Phase[] = [];
  const add = (name: string, what: string, start: number, end: number, tone: string) => {
    if (end >= start) phases.push({ name, what, start, end, tone });
  };
  if (sent === null) {
    add('Refused', 'no replica was chosen', 0, duration_ms, 'bad');
    return phases;
  }
  const queued = queue_ms ?? 0;
  add('Admission', 'read, key and limits checked', 0, Math.max(0, sent - queued), 'idle');
  if (queued > 0) add('Queue', 'waited in the gateway', sent - queued, sent, 'warn');
  for (const one of failed_attempts)
    add('Failed attempt', `${one.replica}: ${one.cause}`, one.start_ms, one.end_ms, 'bad');
  const began = dispatch_ms ?? sent;
  if (ttft_ms === null) add('Replica', `${replica}: the whole response`, began, duration_ms, 'info');
  else {
    add('Prefill', `${replica}: queue and prompt, until the first token`, began, ttft_ms, 'info');
    add('Decode', `${replica}: from the first to the last token`, ttft_ms, duration_ms, 'good');
  }
  return phases;
}

/** The life of a request: each phase where it lay in time. */
export function Waterfall({ request }: { readonly request: PastRequest }) {
  const total = Math.max(request.duration_ms, 0.001);
  const share = (ms: number) => `${((100 * ms) / total).toFixed(3)}%`;
  return (
    <ol className="waterfall">
      {phasesOf(request).map(({ end, name, start, tone, what }) => (
        <li key={`${name} ${start}`}>
          <span className="waterfall-name">
            {name} <span className="muted">{what}</span>
          </span>
          <span className="waterfall-track" aria-hidden="true">
            <span className={`bar-${tone}`} style={{ marginLeft: share(start), width: share(end - start) }} />
          </span>
          <span className="number">{milliseconds(end - start)}</span>
        </li>
      ))}
    </ol>
  );
}
