import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReplicaExit } from '../../../runner/contract.js';
import { unreadyStatus } from '../../queue/unready-status.js';
import type { ObservedReplica } from '../plan/endpoint-state.js';
import { endpointStatus, type StatusInput } from './endpoint-status.js';
import { exitText } from './exit-text.js';
import { replicaEvents, seenOf } from './replica-events.js';

const exit = (change: Partial<ReplicaExit>): ReplicaExit => ({
  ...{ reason: 'ended', code: null, signal: null, detail: null, at: 1, lastLines: [] },
  ...change,
});
const replica = (change: Partial<ObservedReplica> = {}): ObservedReplica => ({
  ...{
    id: 'r1',
    specHash: 'h',
    generation: 1,
    phase: 'ready',
    url: 'u',
    cluster: 'local',
    problem: null,
    startedAt: 0,
    readyAt: 1,
  },
  ...{
    exit: null,
    isDraining: false,
    isLeaving: false,
    unreadySince: null,
    restarts: 0,
    inFlight: 0,
    serving: 'ready',
  },
  ...change,
});
const status = (change: Partial<StatusInput> = {}) =>
  endpointStatus({
    desired: { replicas: 1, specHash: 'h', maxSurge: 1, maxUnavailable: 0 },
    ...{ isDeleting: false, generation: 2, replicas: [], model: { state: 'ready', model: null }, blocker: null },
    ...{ unrouted: null, kvFacts: {}, lastExit: null, url: 'u', before: null, now: 0 },
    ...change,
  }).status;

test.each([
  [exit({ code: 3 }), 'exited with code 3'],
  [exit({ signal: 'SIGKILL' }), 'was ended by SIGKILL'],
  [exit({ reason: 'startup-timeout' }), 'was not ready in time'],
  [exit({ reason: 'unseen' }), 'ended while no control plane was running'],
  [exit({}), 'ended'],
  [exit({ code: 137, detail: 'OOMKilled' }), 'exited with code 137 (OOMKilled)'],
  [exit({ reason: 'stopped' }), 'was stopped'],
])('an exit %j reads %s', (given, text) => {
  expect(exitText(given)).toBe(text);
});

test('reports the progress of a download', () => {
  const fetching = (bytes: number, total: number, quietMs = 0) =>
    status({
      desired: { replicas: 1, specHash: null, maxSurge: 1, maxUnavailable: 0 },
      model: { state: 'fetching', bytes, total, quietMs },
    });
  expect(fetching(0, 0)).toMatchObject({ phase: 'ModelDownloading', message: 'resolving the model at its registry' });
  expect(fetching(2 ** 20, 2 ** 21)).toMatchObject({ message: '50 % of 2.0 MiB' });
  expect(fetching(2 ** 30, 2 ** 32)).toMatchObject({ message: '25 % of 4.0 GiB', download: { total: 2 ** 32 } });
  expect(fetching(2 ** 20, 2 ** 21, 12_900).message).toBe('50 % of 2.0 MiB; no data for 12 s');
});

test('reports a restarted replica as a failure, with the exit of the one before', () => {
  const again = replica({ phase: 'starting', restarts: 2 });
  expect(status({ replicas: [again] }).message).toMatch(/a replica has failed and was restarted/);
  const before = { ...status(), last_lines: ['oh'] };
  expect(status({ replicas: [again], before })).toMatchObject({ phase: 'Failed', last_lines: ['oh'] });
  const lastExit = { text: 'a replica exited with code 1', lines: ['ah'] };
  expect(status({ replicas: [again], before, lastExit })).toMatchObject({
    message: '0 of 1 replicas are ready: a replica exited with code 1',
    last_lines: ['ah'],
  });
});

test('reports how many replicas a failing update has not reached', () => {
  const failed = replica({ id: 'r2', phase: 'exited', exit: exit({ code: 1, at: 5000 }), readyAt: null, restarts: 3 });
  const replicas = [replica({ specHash: 'old' }), failed];
  expect(status({ replicas, now: 5000 })).toMatchObject({
    phase: 'Degraded',
    message:
      '1 of 1 replicas are ready, 1 is not updated yet: a replica exited with code 1; next attempt at 00:00:09 UTC',
  });
  expect(status({ replicas, now: 9000 }).message).toMatch(/exited with code 1$/);
});

test('a condition keeps the time of its last change', () => {
  const first = status({ now: 0 });
  const same = status({ now: 5000, before: first });
  expect(same.conditions.map(({ since }) => since)).toEqual(first.conditions.map(({ since }) => since));
  const ready = status({ now: 9000, before: same, replicas: [replica()] });
  expect(ready.conditions).toMatchObject([{ type: 'Ready', status: true, since: '1970-01-01T00:00:09.000Z' }, {}]);
});

test('reports what has happened between two observations once', () => {
  const before = seenOf([replica(), replica({ id: 'r2' }), replica({ id: 'r3', phase: 'exited', exit: exit({}) })]);
  const now = [
    replica({ phase: 'exited', exit: exit({ code: 1, lastLines: ['a', 'b'] }) }),
    replica({ id: 'r4', phase: 'starting' }),
    replica({ id: 'r5' }),
    replica({ id: 'r6', phase: 'stopping' }),
  ];
  expect(replicaEvents(before, now).map(({ message, reason }) => `${reason}: ${message}`)).toEqual([
    'Exited: replica r1 exited with code 1; last line: b',
    'Started: replica r4 was started',
    'Started: replica r5 was started',
    'Ready: replica r5 is ready',
    'Started: replica r6 was started',
    'Stopped: replica r2 was stopped',
  ]);
  expect(replicaEvents(seenOf(now), now)).toEqual([]);
});

test('reports repeated failures with the same text, and not the starts between them', () => {
  const loop = (id: string) =>
    replica({ id, phase: 'exited', restarts: 2, readyAt: null, exit: exit({ code: 1, lastLines: [id] }) });
  const texts = ['r7', 'r8'].map((id) => replicaEvents(new Map([[id, 'starting']]), [loop(id)]));
  expect(texts[0]).toEqual([
    { type: 'warning', reason: 'Exited', message: 'a replica exited with code 1, like the one before it' },
  ]);
  expect(texts[1]).toEqual(texts[0]);
  expect(replicaEvents(new Map(), [replica({ phase: 'starting', restarts: 2 })])).toEqual([]);
  // After a replica that was healthy for a while, a failure is the first again.
  const well = { ...loop('r9'), exit: exit({ code: 1, at: 60_001 }), readyAt: 1 };
  expect(replicaEvents(new Map([['r9', 'ready']]), [well])[0]!.message).toBe('replica r9 exited with code 1');
});

const anyReplica = fc
  .record({
    phase: fc.constantFrom('ready', 'ready', 'ready', 'starting', 'unready', 'stopping', 'exited' as const),
    specHash: fc.constantFrom('h', 'h', 'h', 'old'),
    isDraining: fc.boolean(),
    restarts: fc.nat(2),
  })
  .map((one) => replica({ ...one, exit: one.phase === 'exited' ? exit({ code: 1 }) : null }));
const anyInput = fc.record({
  replicas: fc.array(anyReplica, { maxLength: 4 }),
  isDeleting: fc.boolean(),
  unrouted: fc.constantFrom(null, null, 'its name is taken'),
  blocker: fc.constantFrom(null, { message: 'b', isTransient: true }, { message: 'b', isTransient: false }),
  desired: fc.record({
    replicas: fc.nat(3),
    specHash: fc.constantFrom('h', null),
    maxSurge: fc.constant(1),
    maxUnavailable: fc.constant(0),
  }),
});

test('phase and conditions never contradict each other', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyInput, (input) => {
      const { conditions, phase } = status(input);
      const [ready, updated] = conditions.map((one) => one.status);
      seen.add(phase);
      expect(conditions.map(({ reason, type }) => `${type} ${reason}`)).toEqual([`Ready ${phase}`, `Updated ${phase}`]);
      expect(phase === 'Running').toBe(ready && updated);
      if (['Failed', 'Deleting', 'Paused', 'Pending'].includes(phase)) expect(ready).toBe(false);
      for (const last of ['Failed', 'Deleting'] as const) {
        const after = unreadyStatus(status(input), last, 'm', '2026-01-01T00:00:00.000Z');
        expect(after.conditions.map(({ reason, status }) => [reason, status])).toEqual([
          [last, false],
          [last, false],
        ]);
      }
    }),
    { seed: 1, numRuns: 2000 },
  );
  expect([...seen].sort()).toEqual(['Degraded', 'Deleting', 'Deploying', 'Failed', 'Paused', 'Pending', 'Running']);
});
