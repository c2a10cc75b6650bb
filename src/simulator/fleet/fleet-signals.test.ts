import { describe, expect, it } from 'vitest';
import { createFleetView, type FleetView } from '../../policy/fleet-view.js';
import { fakeReplica } from '../../replica/fake-replica.fixture.js';
import type { Replica } from '../../replica/replica.js';
import { FleetSignals } from './fleet-signals.js';

/** Blocks of 4 tokens, 10 of them, one seat: the first request runs from 0 on, the second waits until 25. */
function busyReplica() {
  return fakeReplica(
    [
      { input: 8, output: 2 },
      { input: 8, output: 2 },
    ],
    { config: { totalKvBlocks: 10, maxNumSeqs: 1 } },
  );
}

function signalsOf(replica: Replica, refreshUs: number) {
  const view = createFleetView(1);
  const signals = new FleetSignals(view, [replica], refreshUs);
  return { look: (nowUs: number) => signals.look(nowUs), moved: (slot: number) => signals.moved(slot), view };
}

function shown({ view }: { view: FleetView }) {
  return {
    queued: view.queued[0],
    running: view.running[0],
    kvUsed: view.kvUsed[0],
    free: view.freeBlocks[0],
    ageUs: view.reportedAgeUs[0],
  };
}

const NOTHING_SEEN = { queued: 0, running: 0, kvUsed: 0, free: 0 };
const BUSY = { queued: 1, running: 1, kvUsed: 0.2, free: 8 };

describe('live signals', () => {
  it('show every replica from the start', () => {
    const { replica } = busyReplica();
    expect(shown(signalsOf(replica, 0))).toEqual({ queued: 0, running: 0, kvUsed: 0, free: 10, ageUs: 0 });
  });

  it('follow a replica that has run on, without a look', () => {
    const { replica, runUntil } = busyReplica();
    const signals = signalsOf(replica, 0);
    runUntil(1);
    signals.moved(0);
    expect(shown(signals)).toEqual({ ...BUSY, ageUs: 0 });
    signals.look(5);
    expect(shown(signals)).toEqual({ ...BUSY, ageUs: 0 });
  });

  it('include the hit rate', () => {
    const { replica, run } = fakeReplica([
      { input: 12, group: 'g', prefix: 8 },
      { at: 100, input: 12, group: 'g', prefix: 8 },
    ]);
    const signals = signalsOf(replica, 0);
    run();
    signals.moved(0);
    expect(signals.view.cacheHitRate[0]).toBe(0.25);
  });
});

describe('signals that are read every 50 us', () => {
  it('show nothing before the interval has passed, whatever runs', () => {
    const { replica, runUntil } = busyReplica();
    const signals = signalsOf(replica, 50);
    runUntil(1);
    signals.moved(0);
    signals.look(49);
    expect(shown(signals)).toEqual({ ...NOTHING_SEEN, ageUs: 49 });
    signals.look(50);
    expect(shown(signals)).toEqual({ ...BUSY, ageUs: 0 });
  });

  it('are read only by a look, and not again before the interval has passed', () => {
    const { replica, runUntil, run } = busyReplica();
    const signals = signalsOf(replica, 50);
    runUntil(1);
    signals.look(70);
    run();
    signals.look(119);
    expect(shown(signals)).toEqual({ ...BUSY, ageUs: 49 });
    signals.look(120);
    expect(shown(signals)).toEqual({ queued: 0, running: 0, kvUsed: 0, free: 10, ageUs: 0 });
  });
});

describe('signals that a clock reads', () => {
  it('are those of the last read, whatever a look finds', () => {
    const { replica, runUntil } = busyReplica();
    const view = createFleetView(1);
    const signals = new FleetSignals(view, [replica], 50, 80);
    runUntil(1);
    signals.look(70);
    expect(shown({ view })).toEqual({ ...NOTHING_SEEN, ageUs: 70 });
    expect(signals.nextUs).toBe(80);
    signals.read(80);
    expect(signals.nextUs).toBe(130);
    signals.look(170);
    expect(shown({ view })).toEqual({ ...BUSY, ageUs: 90 });
  });
});
