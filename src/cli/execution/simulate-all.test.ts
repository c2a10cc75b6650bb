import { describe, expect, it } from 'vitest';
import { fakeRun, fakeSummary } from '../../experiment/fake-experiment.fixture.js';
import { NO_CACHE, type RunCache } from '../../experiment/runs/run-cache.js';
import { resultBytes, type Shard } from '../../experiment/runs/shard.js';
import { createDiagnostics } from '../diagnostics.js';
import { testIo } from '../test-io.fixture.js';
import { signalCleanUps } from './signal-clean-ups.js';
import { simulateAll } from './simulate-all.js';

/** Simulates two runs and is stopped by a signal in the middle of the second, or not at all. */
async function stoppedIn(cache: RunCache, stop: boolean): Promise<string> {
  let onSignal = () => {};
  const io = { ...testIo(), beforeSignal: (cleanUp: () => void) => (onSignal = cleanUp) };
  const signals = signalCleanUps(io);
  const executor = {
    width: 1,
    isShared: false,
    async run({ inputs }: Shard) {
      if (stop && inputs.config.seed === 2) onSignal();
      return resultBytes(fakeSummary());
    },
    close: async () => {},
  };
  const runs = [fakeRun({ seed: 1 }), fakeRun({ seed: 2 })];
  await simulateAll(runs, { executor, cache, signals, io, diagnostics: createDiagnostics('warn', io) });
  onSignal();
  return io.stderrText();
}

describe('simulateAll', () => {
  const keeping: RunCache = { get: async () => undefined, put: () => true };

  it('reports at a signal what is cached', async () => {
    expect(await stoppedIn(keeping, true)).toBe(
      'twinyard: stopped; 1 of 2 runs are cached; the same command continues from there\n',
    );
  });

  it('reports nothing as cached without a cache', async () => {
    expect(await stoppedIn(NO_CACHE, true)).toBe('twinyard: stopped\n');
  });

  it('prints nothing at a signal when it is over', async () => {
    expect(await stoppedIn(keeping, false)).toBe('');
  });

  it('warns of results that could not be cached', async () => {
    expect(await stoppedIn({ ...keeping, put: () => false }, false)).toBe(
      'twinyard: warning: 2 results could not be cached and will be computed again\n',
    );
  });
});
