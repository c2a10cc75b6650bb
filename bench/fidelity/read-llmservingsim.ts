import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import { PromptBlocks } from '../../src/workload/prompt-blocks.js';
import { type MeasuredRun, tableOf, VLLM } from './measured-run.js';

const BLOCK_TOKENS = 16;
/** The second run does not say how many KV blocks it had: enough. */
const RUNS: { folder: string; gpu: string; kvBlocks: number; maxNumSeqs: number }[] = [
  { folder: 'RTX4090-Llama-3.1-8B', gpu: 'RTX-4090', kvBlocks: 2588, maxNumSeqs: 256 },
  { folder: 'RTXPRO6000-Llama-3.1-8B', gpu: 'RTX-PRO-6000', kvBlocks: 30_000, maxNumSeqs: 128 },
];

interface Recorded {
  request_id: string;
  input_toks: number;
  output_toks: number;
  queued_ts: number;
  first_token_ts: number;
  last_token_ts: number;
}

/** Llama-3.1-8B, 300 requests in half a minute: the smaller GPU's memory and the larger one's seats run out. */
export function readLlmServingSim(folder: string): MeasuredRun[] {
  return RUNS.map(({ folder: name, gpu, kvBlocks, maxNumSeqs }) => {
    const lines = readFileSync(join(folder, name, 'requests.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const recorded: Recorded[] = lines.map((line) => JSON.parse(line));
    const blocksOf = readBlocks(join(folder, name, 'workload.csv'));
    const startS = Math.min(...recorded.map(({ queued_ts }) => queued_ts));
    const requests = recorded.map((one) => ({
      id: one.request_id,
      arrivalUs: Math.round((one.queued_ts - startS) * 1e6),
      inputTokens: one.input_toks,
      outputTokens: one.output_toks,
      ttftUs: (one.first_token_ts - one.queued_ts) * 1e6,
      e2eUs: (one.last_token_ts - one.queued_ts) * 1e6,
    }));
    const blocks = new PromptBlocks(BLOCK_TOKENS);
    const made = tableOf(requests, (_, row, { id }) => {
      for (const block of blocksOf.get(id) ?? []) blocks.add(block);
      blocks.endRow(row);
    });
    made.table.blocks = blocks;
    return {
      set: 'Llama-3.1-8B, vLLM 0.19',
      name: gpu,
      ...made,
      warmUp: 0,
      maxInFlight: Number.POSITIVE_INFINITY,
      model: loadModel('meta-llama/llama-3.1-8b-instruct'),
      gpu: loadGpu(gpu),
      tp: 1,
      engine: { ...VLLM, totalKvBlocks: kvBlocks, maxModelLen: 32_768, maxNumSeqs, maxNumBatchedTokens: 2048 },
    };
  });
}

/** By request, the ids of its prompt's blocks; written as ranges. */
function readBlocks(path: string): Map<string, number[]> {
  const [, ...rows] = readFileSync(path, 'utf8').trim().split('\n');
  return new Map(
    rows.map((row) => {
      const cells = row.split(',');
      const ranges = (cells[4] ?? '').match(/\d+(-\d+)?/g) ?? [];
      const ids = ranges.flatMap((range) => {
        const [from = 0, to = from] = range.split('-').map(Number);
        return Array.from({ length: to - from + 1 }, (_, i) => from + i);
      });
      return [cells[0]!, ids];
    }),
  );
}
