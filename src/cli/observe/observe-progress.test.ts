import { describe, expect, it } from 'vitest';
import type { CliIo } from '../io.js';
import { testIo } from '../test-io.fixture.js';
import { observeProgress } from './observe-progress.js';

const NOW = {
  ...{ planned: 100, done: 10, failed: 0, inFlight: 4, chunks: 500 },
  ...{ ttftP50Ms: 12.4, ttftP99Ms: 60.6, latenessP99Ms: 0.34 },
};

function terminal(columns?: number): CliIo & { stderrText(): string; at(ms: number): void } {
  let ms = 0;
  const io = testIo({ isTTY: true });
  const stderr = columns === undefined ? io.stderr : { ...io.stderr, columns };
  const at = (now: number) => {
    ms = now;
  };
  return { ...io, stderr, now: () => ms, at };
}

describe('observeProgress', () => {
  it('is one line, with the rate of the last seconds', () => {
    const io = terminal();
    const progress = observeProgress(io)!;
    progress.update({ ...NOW, chunks: 0, ttftP50Ms: Number.NaN });
    io.at(1000);
    progress.update(NOW);
    io.at(6000);
    progress.update({ ...NOW, chunks: 1500, failed: 3 });
    io.at(8000);
    progress.update({ ...NOW, chunks: 1600 });
    progress.end();
    const lines = io.stderrText().split('\r\x1b[K');
    expect(lines.slice(1)).toEqual([
      '10 of 100  4 in flight  TTFT p50/p99 - ms  0 tokens/s  late 0.3 ms',
      '10 of 100  4 in flight  TTFT p50/p99 12/61 ms  500 tokens/s  late 0.3 ms',
      '10 of 100  4 in flight  TTFT p50/p99 12/61 ms  200 tokens/s  late 0.3 ms  3 failed',
      '10 of 100  4 in flight  TTFT p50/p99 12/61 ms  50 tokens/s  late 0.3 ms',
      '',
    ]);
  });

  it('does not wrap', () => {
    const io = terminal(20);
    observeProgress(io)!.update(NOW);
    expect(io.stderrText()).toBe('\r\x1b[K10 of 100  4 in fli');
  });

  it('is for terminals', () => {
    expect(observeProgress(testIo())).toBeNull();
  });
});
