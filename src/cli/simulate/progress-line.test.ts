import { describe, expect, it } from 'vitest';
import type { CliIo } from '../io.js';
import { testIo } from '../test-io.fixture.js';
import { createProgressLine } from './progress-line.js';

function terminal(isTTY: boolean) {
  const written: string[] = [];
  let ms = 0;
  const stderr = { isTTY, write: (text: string) => written.push(text) };
  const io = { ...testIo(), stderr, stdout: stderr, now: () => ms } satisfies CliIo;
  return {
    io,
    written,
    wait(time: number) {
      ms += time;
    },
  };
}

describe('createProgressLine', () => {
  it('prints nothing in the first second, then redraws one line', () => {
    const { io, written, wait } = terminal(true);
    const line = createProgressLine(io);
    wait(999);
    line.update(1, 10);
    expect(written).toEqual([]);
    wait(1);
    line.update(5, 10);
    wait(50);
    line.update(6, 10);
    wait(50);
    line.update(7, 10);
    line.end();
    expect(written).toEqual([
      '\r\x1b[K50 %  5 of 10 requests  1.0 s',
      '\r\x1b[K70 %  7 of 10 requests  1.1 s',
      '\r\x1b[K',
    ]);
  });

  it('has nothing to clear after a short run', () => {
    const { io, written } = terminal(true);
    createProgressLine(io).end();
    expect(written).toEqual([]);
  });

  it('is silent where stderr is not a terminal', () => {
    const { io, written, wait } = terminal(false);
    const line = createProgressLine(io);
    wait(5000);
    line.update(1, 2);
    line.end();
    expect(written).toEqual([]);
  });
});
