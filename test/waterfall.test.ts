import { describe, expect, it } from 'vitest';
import { phasesOf, type RequestTimes } from '../console/src/pages/requests/phases.js';

const SERVED: RequestTimes = {
  ...{ outcome: 'ok', cause: null, replica: 'a', failed_attempts: [] },
  ...{ queue_ms: null, dispatch_ms: 2, ttft_ms: 50, duration_ms: 100 },
};
const FAILED = { replica: 'b', start_ms: 5, end_ms: 20, cause: 'connection reset' };

/** Each phase as a line: name, times and what it says. */
const lines = (change: Partial<RequestTimes>) =>
  phasesOf({ ...SERVED, ...change }).map(({ end, name, start, what }) => `${name} ${start}-${end}: ${what}`);

describe('the waterfall of a request', () => {
  it('that was served', () => {
    expect(lines({})).toEqual([
      'Admission 0-2: read, key and limits checked',
      'Prefill 2-50: a: queue and prompt, until the first token',
      'Decode 50-100: a: from the first to the last token',
    ]);
    expect(lines({ ttft_ms: null }).at(-1)).toBe('Replica 2-100: a: the whole response');
  });

  it('that waited in the queue', () => {
    expect(lines({ queue_ms: 30, dispatch_ms: 32 }).slice(0, 2)).toEqual([
      'Admission 0-2: read, key and limits checked',
      'Queue 2-32: waited in the gateway',
    ]);
  });

  it('that left the queue without a replica', () => {
    const waited = { queue_ms: 90, dispatch_ms: null, ttft_ms: null, replica: null };
    expect(lines({ ...waited, outcome: 'refused', cause: 'waited too long' })).toEqual([
      'Admission 0-10: read, key and limits checked',
      'Queue 10-100: refused: waited too long',
    ]);
    expect(lines({ ...waited, outcome: 'client_left' }).at(-1)).toBe(
      'Queue 10-100: client left: before a replica was chosen',
    );
  });

  it('that was tried again', () => {
    expect(lines({ failed_attempts: [FAILED], dispatch_ms: 25, queue_ms: 3 })).toEqual([
      'Admission 0-2: read, key and limits checked',
      'Queue 2-5: waited in the gateway',
      'Failed attempt 5-20: b: connection reset',
      'Prefill 25-50: a: queue and prompt, until the first token',
      'Decode 50-100: a: from the first to the last token',
    ]);
  });

  it('for which no further replica was found', () => {
    const alone = { failed_attempts: [FAILED], dispatch_ms: 5, ttft_ms: null };
    expect(lines({ ...alone, outcome: 'no_replica' }).slice(1)).toEqual([
      'Failed attempt 5-20: b: connection reset',
      'No replica 20-100: none could take it',
    ]);
  });

  it('that broke off, was cancelled, or ran out of time', () => {
    expect(lines({ outcome: 'upstream_error', cause: 'connection lost' }).at(-1)).toBe(
      'Decode 50-100: a: from the first token until it failed: connection lost',
    );
    expect(lines({ outcome: 'client_left' }).at(-1)).toBe(
      'Decode 50-100: a: from the first token until the client left',
    );
    expect(lines({ outcome: 'timeout', ttft_ms: null }).at(-1)).toBe('Replica 2-100: a: until its time was over');
    expect(lines({ outcome: 'client_error', ttft_ms: null }).at(-1)).toBe(
      'Replica 2-100: a: until it refused the request',
    );
  });

  it('that was refused at once', () => {
    const none = { dispatch_ms: null, ttft_ms: null, replica: null, duration_ms: 1 };
    expect(lines({ ...none, outcome: 'refused', cause: 'over a limit' })).toEqual(['Refused 0-1: over a limit']);
    expect(lines({ ...none, outcome: 'no_replica' })).toEqual(['No replica 0-1: none could take it']);
    expect(lines({ ...none, outcome: 'fault' })).toEqual(['Failed 0-1: before a replica was chosen']);
  });
});
