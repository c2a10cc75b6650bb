import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface Load {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  errors: number;
}

const run = promisify(execFile);
const toMs: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

/** Loads a URL with wrk for some seconds, one request at a time on each connection. */
export async function loaded(url: string, script: string, connections: number, secondsLong: number): Promise<Load> {
  const args = ['-t1', `-c${connections}`, `-d${secondsLong}`, '--latency', '-s', script, url];
  const { stdout } = await run('wrk', args);
  const latency = (percent: number) => {
    const [, value, unit] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(stdout) ?? [];
    return Number(value) * toMs[unit ?? 'ms']!;
  };
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    p50Ms: latency(50),
    p99Ms: latency(99),
    errors: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

/** The median of each number, and all errors. */
export function median(loads: readonly Load[]): Load {
  const middle = (of: (load: Load) => number) => loads.map(of).sort((a, b) => a - b)[loads.length >> 1]!;
  return {
    requests: middle(({ requests }) => requests),
    perSecond: middle(({ perSecond }) => perSecond),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    errors: loads.reduce((sum, { errors }) => sum + errors, 0),
  };
}
