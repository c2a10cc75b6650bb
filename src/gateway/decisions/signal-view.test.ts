import { describe, expect, it } from 'vitest';
import { createFleetView } from '../../policy/fleet-view.js';
import { KNOWN_KV, KNOWN_QUEUED, KNOWN_RUNNING, SignalView } from './signal-view.js';

const SIGNALS = { atUs: 0, running: 3, waiting: 2, kvUsed: 0.5, freeBlocks: 7, cacheHitRate: 0.25, missing: [] };
const ALL = KNOWN_KV | KNOWN_QUEUED | KNOWN_RUNNING;

function viewOf(...ids: string[]) {
  const view = createFleetView(ids.length);
  view.ids = ids;
  return view;
}

describe('SignalView', () => {
  it('has no signals before the first report', () => {
    const signals = new SignalView(2, 1000);
    const view = viewOf('a', 'b');
    view.inFlight.set([4, 5]);
    signals.fill(view, 0);
    expect([...signals.known, ...view.queued, ...view.running, ...view.kvUsed]).toEqual([0, 0, 0, 0, 4, 5, 0, 0]);
  });

  it('shows reported signals and assumes missing ones', () => {
    const signals = new SignalView(2, 1000);
    const view = viewOf('a', 'b');
    signals.set('a', SIGNALS);
    signals.set('b', { ...SIGNALS, waiting: Number.NaN, freeBlocks: Number.NaN, cacheHitRate: Number.NaN });
    signals.fill(view, 400);
    expect([...signals.known]).toEqual([ALL, ALL - KNOWN_QUEUED]);
    expect([...view.queued, ...view.freeBlocks, ...view.cacheHitRate]).toEqual([2, 2, 7, 0, 0.25, 0]);
    expect([...view.reportedAgeUs]).toEqual([400, 400]);
  });

  it('does not keep the assumptions of an earlier decision', () => {
    const signals = new SignalView(2, 1);
    const view = viewOf('a', 'b');
    signals.set('a', SIGNALS);
    signals.fill(view, 0);
    expect([...view.queued]).toEqual([2, 2]);
    signals.set('b', { ...SIGNALS, waiting: 9, atUs: 2000 });
    signals.fill(view, 2000);
    expect([...view.queued, ...signals.known]).toEqual([9, 9, 0, ALL]);
  });

  it('keeps only the given replicas', () => {
    const signals = new SignalView(2, 1000);
    const view = viewOf('a', 'b');
    for (const id of ['a', 'b', 'c']) signals.set(id, SIGNALS);
    signals.keep(['b']);
    signals.fill(view, 0);
    expect([...signals.known]).toEqual([0, ALL]);
  });
});
