import { describe, expect, it } from 'vitest';
import { fakeRun, fakeSummary } from '../../experiment/fake-experiment.fixture.js';
import { NO_CACHE, type RunCache } from '../../experiment/runs/run-cache.js';
import { resultBytes } from '../../experiment/runs/shard.js';
import { createDiagnostics } from '../diagnostics.js';
import { testIo } from '../test-io.fixture.js';
import { createPlanRuns } from './plan-runs.js';
import { signalCleanUps } from './signal-clean-ups.js';

/** A search of two steps that a signal ends before the second, or after its end. */
async function searched(cache: RunCache, isStopped: boolean): Promise<{ stderr: string; updates: string[] }> {
  let onSignal = () => {};
  const io = { ...testIo(), beforeSignal: (cleanUp: () => void) => (onSignal = cleanUp) };
  const updates: string[] = [];
  const executor = {
    ...{ width: 1, isShared: false, run: async () => resultBytes(fakeSummary()), close: async () => {} },
    update: (done: number, total: number) => updates.push(`${done} of ${total}`),
  };
  const signals = signalCleanUps(io);
  const search = createPlanRuns({ executor, cache, signals, io, diagnostics: createDiagnostics('warn', io) });
  await search.simulate([fakeRun({ seed: 1 }), fakeRun({ seed: 2 })]);
  if (isStopped) onSignal();
  else {
    await search.simulate([fakeRun({ seed: 3 })]);
    search.end();
    onSignal();
  }
  return { stderr: io.stderrText(), updates };
}

describe('createPlanRuns', () => {
  const keeping: RunCache = { get: async () => undefined, put: () => true };

  it('says at a signal how many runs are cached and how to go on', async () => {
    const { stderr } = await searched(keeping, true);
    expect(stderr).toBe('twinyard: stopped; 2 runs are cached; the same command continues from there\n');
    expect((await searched(NO_CACHE, true)).stderr).toBe('twinyard: stopped\n');
  });

  it('prints nothing at a signal when it is over, and tells a queue how far it is', async () => {
    const { stderr, updates } = await searched(keeping, false);
    expect(stderr).toBe('');
    expect(updates.at(-1)).toBe('3 of 3');
  });
});
