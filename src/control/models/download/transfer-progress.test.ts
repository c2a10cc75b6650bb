import { expect, it } from 'vitest';
import { FakeClock } from '../fake-clock.fixture.js';
import { type DownloadProgress, TransferProgress } from './transfer-progress.js';

function start() {
  const clock = new FakeClock();
  const reports: DownloadProgress[] = [];
  const progress = new TransferProgress({ bytes: 10_000, files: 2 }, clock, (one) => reports.push(one));
  return { clock, reports, progress };
}

it('reports bytes four times a second, and every phase and file', () => {
  const { clock, progress, reports } = start();
  progress.phase('downloading');
  for (let i = 0; i < 10; i++) {
    clock.time += 100;
    progress.count(100, true);
  }
  progress.fileDone();
  progress.phase('publishing');
  expect(reports.map(({ bytes, files, phase }) => [phase, bytes, files])).toEqual([
    ['downloading', 0, 0],
    ['downloading', 300, 0],
    ['downloading', 600, 0],
    ['downloading', 900, 0],
    ['downloading', 1000, 1],
    ['publishing', 1000, 1],
  ]);
  expect(reports.at(-1)).toMatchObject({ totalBytes: 10_000, totalFiles: 2, bytesPerSecond: 1000 });
});

it('counts bytes of an earlier download, but not for the speed', () => {
  const { clock, progress, reports } = start();
  progress.count(5000, false);
  clock.time += 2000;
  progress.count(1000, true);
  expect(reports.map(({ bytes, bytesPerSecond }) => [bytes, bytesPerSecond])).toEqual([
    [5000, 0],
    [6000, 500],
  ]);
});

it('computes the speed over the last seconds', () => {
  const { clock, progress, reports } = start();
  for (let i = 0; i < 30; i++) {
    clock.time += 1000;
    progress.count(i < 10 ? 900 : 100, true);
  }
  expect(reports.at(-1)!.bytesPerSecond).toBe(100);
});

it('goes back when a file is started again', () => {
  const { clock, progress, reports } = start();
  progress.count(500, true);
  clock.time += 1000;
  progress.count(-500, false);
  expect(reports.at(-1)).toMatchObject({ bytes: 0, bytesPerSecond: 500 });
});

it('reports a stall repeatedly until data arrives', () => {
  const { clock, progress, reports } = start();
  progress.phase('downloading');
  clock.pass(6000);
  progress.count(100, true);
  clock.pass(9999);
  expect(reports.map(({ quietMs }) => quietMs)).toEqual([0, 0]);
  clock.pass(1);
  expect(reports.at(-1)).toMatchObject({ phase: 'downloading', bytes: 100, quietMs: 10_000 });
  clock.pass(20_250);
  progress.count(100, true);
  expect(reports.slice(2).map(({ quietMs }) => quietMs)).toEqual([10_000, 20_000, 30_000, 0]);
  clock.pass(10_000);
  expect(reports.at(-1)).toMatchObject({ bytes: 200, quietMs: 10_000 });
});

it('reports no stall while it waits for another process, nor after the download', () => {
  const { clock, progress, reports } = start();
  progress.phase('waiting');
  clock.pass(60_000);
  progress.phase('downloading');
  progress.phase('publishing');
  clock.pass(60_000);
  progress.fileDone();
  expect(reports.map(({ phase, quietMs }) => [phase, quietMs])).toEqual([
    ['waiting', 0],
    ['downloading', 0],
    ['publishing', 0],
    ['publishing', 0],
  ]);
  progress.phase('downloading');
  progress.end();
  expect(clock.alarms).toBe(0);
});
