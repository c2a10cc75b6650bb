import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import { answerWhatIf } from '../../src/twin/whatif/answer-whatif.js';
import { type MetricRow, WHAT_IF_TITLES } from '../../src/twin/whatif/recorded-metrics.js';
import type { WhatIfPrediction } from '../../src/twin/whatif/whatif-document.js';
import { baselineText, errorText, JudgedRuns, metricText } from './judged-runs.js';
import { measuredMetrics } from './measured-run.js';

const BASE = 'round-robin';
const MODEL = fileURLToPath(new URL('../../../bench/twin/llama3.2-3b', import.meta.url));
/** Four replicas of our engine on quarters of an H200. */
export const H200_REPLICA: ReplicaModelConfig = {
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
  const judged = new JudgedRuns(say);
  try {
    for (const base of runs.filter((name) => name.endsWith(`-${BASE}`))) {
      const workload = base.slice(0, -BASE.length - 1);
      const others = runs.filter((name) => name.startsWith(`${workload}-`) && name !== base);
      const document = await answerWhatIf(
        {
          recording: unpacked(folder, base, files),
          replica: H200_REPLICA,
          gateway: { signalsUs: 1_000_000, blockSize: 16 },
          alternatives: others.map((name) => ({ routing: policyOf(folder, name) })),
        },
        () => {},
      );
      say(`\n${base}: ${baselineText(document)}`);
      for (const [i, name] of others.entries()) {
        const truth = await measuredMetrics(unpacked(folder, name, files));
        table(name, document.alternatives[i]!.metrics, truth, judged, say);
      }
    }
  } finally {
    rmSync(files, { recursive: true });
  }
  return judged.report();
}

function table(
  name: string,
  metrics: readonly WhatIfPrediction[],
  truth: MetricRow,
  judged: JudgedRuns,
  say: (line: string) => void,
): void {
  say(`\n| ${name} | was | predicted | interval | measured | error | |`);
  say('|---|---|---|---|---|---|---|');
  for (const prediction of metrics) {
    const { high, low, metric, predicted, was } = prediction;
    const shown = (value: number) => metricText(metric, value);
    const { error, verdict } = judged.judge(prediction, truth[metric]);
    const cells = [WHAT_IF_TITLES[metric], shown(was), shown(predicted), `${shown(low)} to ${shown(high)}`];
    say(`| ${[...cells, shown(truth[metric]), errorText(error), verdict].join(' | ')} |`);
  }
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
