import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { derivedKvBlocks } from '../../src/replica/catalogue/kv-capacity.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import { RequestTable } from '../../src/workload/request-table.js';
import type { AggregateRun, MeasuredRun } from './measured-run.js';

interface Recorded {
  model: string;
  workload: string;
  gpu: string;
  tp: number;
  gpu_memory_utilization: number;
  actual_ms: Record<'e2e_mean' | 'e2e_p90' | 'e2e_p99' | 'ttft_mean' | 'ttft_p90' | 'ttft_p99', number>;
}

/** Names in the catalogue, and what the driver leaves of the memory on the box. */
const GPUS: Record<string, { name: string; memoryGiB?: number }> = {
  H100: { name: 'H100' },
  'A100-80GB': { name: 'A100-SXM' },
  L40S: { name: 'L40S', memoryGiB: 45 },
};
/** vLLM measures the activations of its largest step, 2,048 tokens here; the catalogue's rule allows for more. */
const ACTIVATION_GIB = 1.5;
const RULE_ACTIVATION_GIB = 5.5;
/** Requests per second in the two halves of a run, 600 s each. */
const RATES: Record<string, [number, number]> = { general: [8, 20], 'general-lite': [2.5, 6] };
const HALF_US = 600e6;
const PROMPTS = 100;

/**
 * Runs of which only means and percentiles are known. Their requests are made from those of a recorded run of the same
 * workload: the same lengths, arrivals at the rates of the run.
 */
export function readAggregates(folder: string, like: MeasuredRun): AggregateRun[] {
  const runs: Recorded[] = JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8'));
  return runs.map((run) => {
    const { name, memoryGiB } = GPUS[run.gpu]!;
    const sheet = loadGpu(name);
    const gpu = { ...sheet, memoryGiB: memoryGiB ?? sheet.memoryGiB };
    const model = loadModel(run.model.toLowerCase());
    const [first, second] = RATES[run.workload]!;
    const table = sampled(like, [first, second]);
    const spare = (RULE_ACTIVATION_GIB - ACTIVATION_GIB) / (gpu.memoryGiB * run.tp);
    const capacity = {
      tp: run.tp,
      dp: 1,
      blockSize: like.engine.blockSize,
      gpuMemoryUtilization: run.gpu_memory_utilization + spare,
    };
    return {
      set: `${name}, vLLM, aggregates`,
      name: `${run.model.split('/')[1]} ${run.workload}`,
      table,
      warmUp: like.warmUp,
      maxInFlight: Number.POSITIVE_INFINITY,
      model,
      gpu: sheet,
      tp: run.tp,
      engine: { ...like.engine, totalKvBlocks: derivedKvBlocks(model, gpu, capacity) },
      measuredMs: run.actual_ms,
    };
  });
}

/** As many of the recorded requests as the rates need, at their pace. */
function sampled({ table: recorded }: MeasuredRun, rates: readonly number[]): RequestTable {
  const slower = rates.map((rate, half) => RATES.general![half]! / rate);
  const rows: { atUs: number; row: number }[] = [];
  for (let row = 0; row < recorded.count; row++) {
    const arrivalUs = recorded.arrivalUs[row]!;
    const half = arrivalUs < HALF_US ? 0 : 1;
    const atUs = (arrivalUs - half * HALF_US) * slower[half]!;
    if (atUs < HALF_US) rows.push({ atUs: Math.round(half * HALF_US + atUs), row });
  }
  const table = new RequestTable(rows.length);
  for (const { atUs, row } of rows) {
    const made = table.append();
    table.arrivalUs[made] = atUs;
    table.inputTokens[made] = recorded.inputTokens[row]!;
    table.outputTokens[made] = recorded.outputTokens[row]!;
    const group = table.prefixGroups.index(`prompt ${made % PROMPTS}`);
    table.prefixGroup[made] = group;
    table.prefixTokens[group] = Math.max(table.prefixTokens[group] ?? 0, recorded.inputTokens[row]!);
  }
  return table;
}
