import { describe, expect, it } from 'vitest';
import { testIo } from '../test-io.fixture.js';
import { createExperimentProgress } from './experiment-progress.js';

function terminal(isTTY: boolean) {
  const written: string[] = [];
  let ms = 0;
  const stderr = { isTTY, write: (text: string) => written.push(text) };
  const io = { ...testIo(), stderr, now: () => ms };
  const state = (done: number, computed: number) => ({ done, total: 20, computed, notKept: 0 });
  const wait = (time: number) => {
    ms += time;
  };
  return { bar: createExperimentProgress(io), written, state, wait };
}

describe('createExperimentProgress', () => {
  it('shows how far it is and, from the runs computed, how long the others take', () => {
    const { bar, written, state, wait } = terminal(true);
    bar.update(state(5, 0));
    wait(2000);
    bar.update(state(10, 5));
    wait(50);
    bar.update(state(11, 6));
    wait(200_000);
    bar.update(state(12, 7));
    wait(1);
    bar.update(state(20, 8));
    bar.end();
    expect(written).toEqual([
      '\r\x1b[K██████                    5 of 20 runs',
      '\r\x1b[K████████████              10 of 20 runs  4 s left',
      '\r\x1b[K██████████████▍           12 of 20 runs  4 min left',
      '\r\x1b[K████████████████████████  20 of 20 runs  0 s left',
      '\r\x1b[K',
    ]);
  });

  it('has nothing to clear when nothing was drawn', () => {
    const { bar, written } = terminal(true);
    bar.end();
    expect(written).toEqual([]);
  });

  it('is silent where stderr is not a terminal', () => {
    const { bar, written, state } = terminal(false);
    bar.update(state(5, 5));
    bar.end();
    expect(written).toEqual([]);
  });
});
