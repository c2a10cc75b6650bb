import { expect, it } from 'vitest';
import { packageVersion } from '../../files/package-path.js';
import { Exposition } from '../../protocol/prometheus/exposition.js';
import { parseExposition } from './exposition.fixture.js';
import { ProcessMetrics } from './process-metrics.js';

it('exports resource usage, build info and event loop lag', () => {
  const metrics = new ProcessMetrics();
  for (const ms of [-0.2, 0.5, 3, 40_000]) metrics.late(ms);
  const out = new Exposition();
  metrics.writeTo(out);
  const samples = parseExposition(out.text());
  expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  expect(samples.get(`twinyard_build_info{version="${packageVersion()}",node="${process.versions.node}"}`)).toBe(1);
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'twinyard_heap_used_bytes']) {
    expect(samples.get(name), name).toBeGreaterThan(0);
  }
  const beganAgo = Date.now() / 1000 - samples.get('process_start_time_seconds')!;
  expect(Math.abs(beganAgo - process.uptime())).toBeLessThan(60);
  expect(samples.get('twinyard_event_loop_lag_seconds_bucket{le="0.001"}')).toBe(2);
  expect(samples.get('twinyard_event_loop_lag_seconds_bucket{le="0.005"}')).toBe(3);
  expect(samples.get('twinyard_event_loop_lag_seconds_count')).toBe(4);
});

it('measures the event loop until it is stopped', async () => {
  const metrics = new ProcessMetrics();
  // Its own timer does not keep a process alive.
  const alive = setInterval(() => {}, 1000);
  const looked = await new Promise<number>((resolve) => {
    metrics.late = resolve;
    metrics.start();
  });
  clearInterval(alive);
  metrics.stop();
  expect(Number.isFinite(looked)).toBe(true);
});
