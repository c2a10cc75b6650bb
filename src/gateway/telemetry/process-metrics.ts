import { performance } from 'node:perf_hooks';
import { packageVersion } from '../../files/package-path.js';
import type { Exposition } from '../../protocol/prometheus/exposition.js';
import { labelText } from '../../protocol/prometheus/exposition.js';
import { DurationHistogram, LAG_BUCKETS_US } from './duration-histogram.js';
import type { Axis } from './label-axis.js';
import { FAMILIES } from './metric-families.js';

const LOOK_MS = 100;

/** A family without labels has one row. */
const NO_LABELS: Axis = { capacity: 1, used: 1, text: () => '', isOverflow: () => false };

/** Resource usage of the process and event loop lag: an event loop that is busy with one request delays all others. */
export class ProcessMetrics {
  readonly #lag = new DurationHistogram(FAMILIES.lag, NO_LABELS, LAG_BUCKETS_US);
  readonly #build = `${labelText('version', packageVersion())},${labelText('node', process.versions.node)}`;
  #timer: NodeJS.Timeout | undefined;

  /** Starts measuring the event loop. */
  start(): void {
    let lastMs = performance.now();
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.late(nowMs - lastMs - LOOK_MS);
      lastMs = nowMs;
    }, LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Timers are now and then a little early. */
  late(ms: number): void {
    this.#lag.observe(0, Math.max(0, Math.round(ms * 1000)));
  }

  writeTo(out: Exposition): void {
    const { user, system } = process.cpuUsage();
    const { heapUsed, rss } = process.memoryUsage();
    out.family(FAMILIES.buildInfo);
    out.sample(this.#build, 1);
    out.single(FAMILIES.cpu, (user + system) / 1e6);
    out.single(FAMILIES.residentMemory, rss);
    out.single(FAMILIES.startTime, Math.round(performance.timeOrigin) / 1000);
    out.single(FAMILIES.heap, heapUsed);
    this.#lag.writeTo(out);
  }
}
