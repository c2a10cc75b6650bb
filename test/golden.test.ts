import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { main } from '../src/cli/main.js';
import type { ResultDocument } from '../src/simulator/result-document.js';
import { type GoldenCase, goldenCase, goldenNames } from './support/golden-case.js';
import { testIo } from './support/test-io.js';

/** Runs a case through the command line, as a user would, and reads the file of `--metrics-path`. */
async function replay(golden: GoldenCase): Promise<ResultDocument> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-golden-'));
  const metrics = join(folder, 'metrics.json');
  try {
    const io = testIo();
    const code = await main(
      [
        'replay',
        ...golden.args,
        ...['--trace-header', golden.traceHeader, '--trace-data', golden.traceData],
        ...['--trace-level', 'decisions', '--counterfactual-k', '4', '--summarize-trace', '--metrics-path', metrics],
      ],
      io,
    );
    // Some cases are an overload on purpose.
    expect(io.stderrText().replace(/^twinyard: warning: saturated: .*\n/, '')).toBe('');
    expect(code).toBe(0);
    return JSON.parse(readFileSync(metrics, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const CLUSTER_KEYS: Record<string, string> = { vllm_estimated_duration_s: 'duration_s' };

function closeTo(actual: number, expected: number, what: string): void {
  const error = Math.abs(actual - expected) / Math.max(Math.abs(expected), 1e-12);
  expect(error, `${what}: ${actual}, expected ${expected}`).toBeLessThanOrEqual(1e-9);
}

/** Numbers printed with fixed decimals agree when they round to the same text. */
function rounded(actual: number, expected: string, what: string): void {
  const digits = expected.split('.')[1]?.length ?? 0;
  expect(Math.abs(actual - Number(expected)), `${what}: ${actual}, expected ${expected}`).toBeLessThanOrEqual(
    0.5001 * 10 ** -digits,
  );
}

function checkRequests(golden: GoldenCase, document: ResultDocument): void {
  const ours = new Map(document.requests!.map((request) => [request.request_id, request]));
  for (const [id, expected] of golden.requests) {
    const actual = ours.get(id);
    expect(actual, id).toBeDefined();
    expect(actual!.instance, id).toBe(expected.instance);
    const times: [string, number | null, number][] = [
      ['ttft', actual!.ttft_us, expected.ttftUs],
      ['e2e', actual!.e2e_us, expected.e2eUs],
      ['scheduling delay', actual!.scheduling_delay_us, expected.schedulingDelayUs],
    ];
    for (const [what, is, should] of times) expect(is ?? 0, `${id} ${what}`).toBe(Math.round(should));
    closeTo(actual!.itl_mean_us ?? 0, expected.itlMeanUs, `${id} itl`);
  }
  const finished = document.requests!.filter((request) => request.e2e_us !== null);
  for (const { request_id } of finished) expect(golden.requests.has(request_id), request_id).toBe(true);
}

function checkCluster(golden: GoldenCase, document: ResultDocument): void {
  const ours = document.cluster as unknown as Record<string, number>;
  for (const [key, expected] of Object.entries(golden.cluster)) {
    if (key === 'instance_id') continue;
    const actual = ours[CLUSTER_KEYS[key] ?? key]!;
    if (Number.isInteger(expected)) expect(actual, key).toBe(expected);
    else closeTo(actual, expected, key);
  }
}

/** `Name: value` lines of a section. */
function pairs(golden: GoldenCase, section: string): Map<string, string> {
  const lines = golden.sections.get(section) ?? [];
  return new Map(lines.map((line) => line.split(': ') as [string, string]));
}

function checkCounters(golden: GoldenCase, document: ResultDocument): void {
  const counters = pairs(golden, 'Anomaly Counters');
  const { cluster, anomalies } = document;
  const expected: Record<string, number> = {
    'Priority Inversions': anomalies.priority_inversions,
    'HOL Blocking Events': anomalies.hol_blocking_events,
    'Rejected Requests (Admission)': cluster.rejected_requests,
    'Rejected Requests (Routing)': cluster.routing_rejected,
    'Dropped Unservable': cluster.dropped_unservable,
    'Timed Out Requests': cluster.timed_out_requests,
    'Length-Capped Requests': cluster.length_capped_requests,
    'Gateway Queue Rejected': cluster.gateway_rejected,
    'Gateway Queue Shed': cluster.gateway_shed,
    'Gateway Expired (TTL)': cluster.gateway_expired,
  };
  for (const [sloClass, n] of Object.entries(anomalies.shed)) expected[`Shed (${sloClass})`] = n;
  for (const [name, value] of Object.entries(expected)) expect(value, name).toBe(Number(counters.get(name) ?? 0));
  for (const name of counters.keys()) expect(expected, name).toHaveProperty([name]);
  const kv = pairs(golden, 'KV Cache Metrics');
  if (kv.size > 0) rounded(cluster.cache_hit_rate, kv.get('Cache Hit Rate')!, 'hit rate');
}

function checkClasses(golden: GoldenCase, document: ResultDocument): void {
  let name = '';
  for (const line of golden.sections.get('Per-SLO Metrics') ?? []) {
    const numbers = /^(TTFT|ITL|E2E): +mean=([\d.]+) p99=([\d.]+) \(n=(\d+)\)$/.exec(line);
    if (numbers === null) {
      name = line.replace(':', '');
      continue;
    }
    const ours = document.slo[name]!;
    const metric = ours[numbers[1]!.toLowerCase() as 'ttft' | 'itl' | 'e2e'];
    rounded(metric.mean_us, numbers[2]!, `${name} ${numbers[1]} mean`);
    rounded(metric.p99_us, numbers[3]!, `${name} ${numbers[1]} p99`);
    expect(ours.count, name).toBe(Number(numbers[4]));
  }
}

function checkTenantsAndSessions(golden: GoldenCase, document: ResultDocument): void {
  for (const [tenant, text] of pairs(golden, 'Per-Tenant Metrics')) {
    if (tenant === 'Jain Fairness Index') rounded(document.fairness.jain, text, tenant);
    else {
      const { requests, tokens } = document.fairness.tenants[tenant]!;
      expect(`requests=${requests}, tokens=${tokens}`, tenant).toBe(text);
    }
  }
  const { sessions } = document;
  for (const line of golden.sections.get('Session Metrics') ?? []) {
    if (line.startsWith('Sessions: ')) expect(sessions!.count).toBe(Number(line.slice(10)));
    const numbers = /^(.*?): +mean=([\d.]+) p50=([\d.]+) p95=([\d.]+) p99=([\d.]+) ms/.exec(line);
    if (numbers === null) continue;
    const kind = numbers[1]!.startsWith('TTFT cold')
      ? 'ttft_cold_ms'
      : numbers[1]!.startsWith('TTFT')
        ? 'ttft_warm_ms'
        : 'duration_ms';
    const ours = sessions![kind];
    for (const [i, key] of (['mean', 'p50', 'p95', 'p99'] as const).entries())
      rounded(ours[key], numbers[i + 2]!, `${kind} ${key}`);
  }
}

function checkDecisions(golden: GoldenCase, document: ResultDocument): void {
  const summary = pairs(golden, 'Trace Summary');
  const ours = document.decisions!;
  expect(ours.total).toBe(Number(summary.get('Total Decisions')));
  expect(ours.admitted).toBe(Number(summary.get('Admitted')));
  expect(ours.rejected).toBe(Number(summary.get('Rejected')));
  const targets = [...summary].filter(([name]) => name.startsWith('instance_')).map(([name, n]) => [name, Number(n)]);
  expect(ours.targets).toEqual(Object.fromEntries(targets));
  rounded(ours.mean_regret, summary.get('Mean Regret')!, 'mean regret');
  rounded(ours.max_regret, summary.get('Max Regret')!, 'max regret');
}

describe.each(goldenNames)('%s', (name) => {
  test('every request, aggregate and counter is exact', async () => {
    const golden = goldenCase(name);
    const document = await replay(golden);
    checkRequests(golden, document);
    checkCluster(golden, document);
    checkCounters(golden, document);
    checkClasses(golden, document);
    checkTenantsAndSessions(golden, document);
    checkDecisions(golden, document);
  });
});
