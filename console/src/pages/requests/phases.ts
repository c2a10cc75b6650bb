/** The times of a request that has ended, in milliseconds from its arrival; null for what did not happen. */
export interface RequestTimes {
  readonly outcome: string;
  readonly cause: string | null;
  readonly replica: string | null;
  readonly failed_attempts: readonly {
    readonly replica: string;
    readonly start_ms: number;
    readonly end_ms: number;
    readonly cause: string;
  }[];
  readonly queue_ms: number | null;
  readonly dispatch_ms: number | null;
  readonly ttft_ms: number | null;
  readonly duration_ms: number;
}

export interface Phase {
  readonly name: string;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly tone: 'idle' | 'warn' | 'bad' | 'info' | 'good';
}

/** How a request ended, for those that did not succeed. */
const ENDS: Readonly<Record<string, readonly [name: string, what: string]>> = {
  refused: ['Refused', 'before a replica was chosen'],
  no_replica: ['No replica', 'none could take it'],
  timeout: ['Timeout', 'its time was over'],
  client_left: ['Client left', 'before a replica was chosen'],
};

/** The phases of a request by its times; what did not happen is left out. */
export function phasesOf(request: RequestTimes): Phase[] {
  const { cause, dispatch_ms, duration_ms, failed_attempts: failed, outcome, queue_ms } = request;
  const phases: Phase[] = [];
  const add = (name: string, what: string, start: number, end: number, tone: Phase['tone']) => {
    if (end >= start) phases.push({ name, what, start, end, tone });
  };
  const sent = failed[0]?.start_ms ?? dispatch_ms;
  const queued = queue_ms ?? 0;
  const [endName, endWhat] = ENDS[outcome] ?? ['Failed', 'before a replica was chosen'];
  const reason = cause === null || cause === '' ? endWhat : cause;
  if (sent === null && queued === 0) {
    add(endName, reason, 0, duration_ms, 'bad');
    return phases;
  }
  const queueEnd = sent ?? duration_ms;
  add('Admission', 'read, key and limits checked', 0, Math.max(0, queueEnd - queued), 'idle');
  if (queued > 0) {
    const what = sent === null ? `${endName.toLowerCase()}: ${reason}` : 'waited in the gateway';
    add('Queue', what, Math.max(0, queueEnd - queued), queueEnd, sent === null ? 'bad' : 'warn');
  }
  for (const one of failed) add('Failed attempt', `${one.replica}: ${one.cause}`, one.start_ms, one.end_ms, 'bad');
  const gaveUp = failed.at(-1)?.end_ms ?? 0;
  if (sent === null) return phases;
  // After the last failed attempt there was no other replica.
  if (dispatch_ms === null || dispatch_ms < gaveUp) add(endName, reason, gaveUp, duration_ms, 'bad');
  else addServed(request, dispatch_ms, add);
  return phases;
}

/** What happened on the replica that the request ended on. */
function addServed(
  { cause, duration_ms, outcome, replica, ttft_ms }: RequestTimes,
  began: number,
  add: (name: string, what: string, start: number, end: number, tone: Phase['tone']) => void,
): void {
  const until = untilOf(outcome, cause);
  if (ttft_ms === null) {
    add('Replica', `${replica}: ${until ?? 'the whole response'}`, began, duration_ms, until === null ? 'info' : 'bad');
    return;
  }
  add('Prefill', `${replica}: queue and prompt, until the first token`, began, ttft_ms, 'info');
  const decode = until === null ? 'from the first to the last token' : `from the first token ${until}`;
  add('Decode', `${replica}: ${decode}`, ttft_ms, duration_ms, until === null ? 'good' : 'bad');
}

/** Null for a request that succeeded. */
function untilOf(outcome: string, cause: string | null): string | null {
  if (outcome === 'ok') return null;
  if (outcome === 'client_left') return 'until the client left';
  if (outcome === 'timeout') return 'until its time was over';
  if (outcome === 'client_error') return 'until it refused the request';
  return cause === null || cause === '' ? 'until it failed' : `until it failed: ${cause}`;
}
