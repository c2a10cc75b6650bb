import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readNumberTable } from '../../src/observe/truth/number-table.js';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import { type MeasuredRun, tableOf, VLLM } from './measured-run.js';

/** The client never had more requests under way. */
const MAX_IN_FLIGHT = 256;

interface Cells {
  cells: { cell: string }[];
  server: { max_num_seqs: number; max_num_batched_tokens: number; kv_blocks: number };
}

/** Qwen3-14B on an H100, from 2 requests a second to saturation. All prompts differ. */
export function readQwen3(folder: string): MeasuredRun[] {
  const { cells, server }: Cells = JSON.parse(readFileSync(join(folder, 'cells.json'), 'utf8'));
  const names = ['intended_arrival_us', 'input_tokens_server', 'output_tokens', 'ttft_us', 'e2e_us'] as const;
  return cells.map(({ cell }) => {
    const { count, columns } = readNumberTable(join(folder, `${cell}.csv`), names);
    const requests = Array.from({ length: count }, (_, i) => ({
      arrivalUs: columns.intended_arrival_us[i]!,
      inputTokens: columns.input_tokens_server[i]!,
      outputTokens: columns.output_tokens[i]!,
      ttftUs: columns.ttft_us[i]!,
      e2eUs: columns.e2e_us[i]!,
    }));
    return {
      set: 'Qwen3-14B, H100, vLLM 0.23',
      name: cell.replace(/^sweep_(rate|tenants)-|-vanilla$/g, ''),
      ...tableOf(requests),
      warmUp: 10,
      maxInFlight: MAX_IN_FLIGHT,
      model: loadModel('qwen/qwen3-14b'),
      gpu: loadGpu('H100'),
      tp: 1,
      engine: {
        ...VLLM,
        totalKvBlocks: server.kv_blocks,
        maxModelLen: 32_768,
        maxNumSeqs: server.max_num_seqs,
        maxNumBatchedTokens: server.max_num_batched_tokens,
      },
    };
  });
}
