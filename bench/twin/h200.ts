import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import { answerWhatIf } from '../../src/twin/whatif/answer-whatif.js';
import { WHAT_IF_TITLES, type WhatIfMetric } from '../../src/twin/whatif/recorded-metrics.js';
import type { WhatIfDocument } from '../../src/twin/whatif/whatif-document.js';
import { measuredMetrics } from './measured-run.js';

const BASE = 'round-robin';
const MODEL = fileURLToPath(new URL('../../../bench/twin/llama3.2-3b', import.meta.url));
/** What has to hold besides the interval: shares of the value, and points. */
const BOUNDS: Partial<Record<WhatIfMetric, number>> = {
  ttft_mean_ms: 0.1,
  ttft_p90_ms: 0.15,
  e2e_mean_ms: 0.05,
  cached_share: 0.02,
};

/** Four replicas of our engine on quarters of an H200. */
const REPLICA: ReplicaModelConfig = {
  ...{ model: 'llama3.2-3b', hardware: 'H200', tp: 1, dp: 1, moeCommBackend: 'allgather_reducescatter' },
  ...{ latencyModel: 'physics', alphaCoeffs: null, betaCoeffs: null, modelConfigFolder: MODEL },
  ...{ totalKvBlocks: 3600, blockSize: 16, gpuMemoryUtilization: 0.9, maxModelLen: 8448, maxNumSeqs: 64 },
  ...{ maxNumBatchedTokens: 2048, longPrefillTokenThreshold: 0, scheduler: 'fcfs', preemptionPolicy: 'fcfs' },
  engineRules: 'vllm-v1',
};

/**
 * From the recording of every round-robin run alone, what the other policies did to the same requests on the same hardware.
 * @returns whether all metrics are within their interval and the bounds
 */
export async function h200(folder: string, say: (line: string) => void): Promise<boolean> {
  if (!existsSync(folder)) {
    say(`${folder}: no such folder; the measured runs are left out`);
    return true;
  }
  const runs = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'traffic.jsonl.gz')));
  const files = mkdtempSync(join(tmpdir(), 'twinyard-h200-'));
  const counts = { judged: 0, inside: 0, close: 0 };
  try {
    for (const base of runs.filter((name) => name.endsWith(`-${BASE}`))) {
      const workload = base.slice(0, -BASE.length - 1);
      const others = runs.filter((name) => name.startsWith(`${workload}-`) && name !== base);
      const document = await answerWhatIf(
        {
          recording: unpacked(folder, base, files),
          replica: REPLICA,
          gateway: { signalsUs: 1_000_000, blockSize: 16 },
          alternatives: others.map((name) => ({ routing: policyOf(folder, name) })),
        },
        () => {},
      );
      say(`\n${base}: ${baselineText(document)}`);
      for (const [i, name] of others.entries()) {
        const truth = await measuredMetrics(unpacked(folder, name, files));
        judge(name, document.alternatives[i]!.metrics, truth, counts, say);
      }
    }
  } finally {
    rmSync(files, { recursive: true });
  }
  say(`\n${counts.inside} of ${counts.judged} within their interval, ${counts.close} within the bounds`);
  return counts.inside === counts.judged && counts.close === counts.judged;
}

function judge(
  name: string,
  metrics: WhatIfDocument['alternatives'][number]['metrics'],
  truth: Record<WhatIfMetric, number>,
  counts: { judged: number; inside: number; close: number },
  say: (line: string) => void,
): void {
  say(`\n| ${name} | was | predicted | interval | measured | error | |`);
  say('|---|---|---|---|---|---|---|');
  for (const { high, low, metric, predicted, was } of metrics) {
    const isShare = metric === 'cached_share';
    const shown = (value: number) => (isShare ? (100 * value).toFixed(1) : value.toFixed(value < 1000 ? 1 : 0));
    const measured = truth[metric];
    const error = isShare ? predicted - measured : predicted / measured - 1;
    const isInside = measured >= low && measured <= high;
    const bound = BOUNDS[metric];
    const isClose = bound === undefined || Math.abs(error) <= bound;
    if (bound !== undefined) {
      counts.judged++;
      if (isInside) counts.inside++;
      if (isClose) counts.close++;
    }
    const verdict = [isInside ? '' : 'outside', isClose ? '' : 'too far'].filter((word) => word !== '').join(', ');
    const cells = [
      WHAT_IF_TITLES[metric],
      shown(was),
      shown(predicted),
      `${shown(low)} to ${shown(high)}`,
      shown(measured),
    ];
    say(`| ${[...cells, `${error > 0 ? '+' : ''}${(100 * error).toFixed(1)}`, verdict].join(' | ')} |`);
  }
}

function baselineText({ baseline }: WhatIfDocument): string {
  const errors = baseline.metrics.map(
    ({ error, metric }) => `${WHAT_IF_TITLES[metric].replace(/,.*/, '')} ${(100 * error).toFixed(1)}`,
  );
  return `simulated as recorded, errors in %: ${errors.join(', ')}; steps ±${(100 * baseline.stepError).toFixed(1)} %`;
}

/** Policies of version 0.1 read prompts in the blocks that its recording has. */
function policyOf(folder: string, run: string): { policy: string; options: Record<string, unknown> } {
  const { options, policy } = JSON.parse(readFileSync(join(folder, run, 'run.json'), 'utf8'));
  const lines = gunzipSync(readFileSync(join(folder, run, 'traffic.jsonl.gz'))).toString();
  const [, size] = /"block_size":(\d+)/.exec(lines)!;
  return { policy, options: Number(size) === 16 ? options : { block_size: Number(size), ...options } };
}

function unpacked(folder: string, run: string, files: string): string {
  const path = join(files, `${run}.jsonl`);
  if (!existsSync(path)) writeFileSync(path, gunzipSync(readFileSync(join(folder, run, 'traffic.jsonl.gz'))));
  return path;
}
