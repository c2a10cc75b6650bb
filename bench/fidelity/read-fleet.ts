import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { type MeasuredRun, tableOf, VLLM } from './measured-run.js';
import { h200ModelSpec } from './read-h200.js';

export const FLEET_RUNS = [
  'uniform-round-robin',
  'uniform-weighted',
  'assistants-round-robin',
  'assistants-lmetric',
  'assistants-weighted',
];
const REPLICAS = 4;
const PREFIX_TOKENS = 2000;

/** The four replicas of a run on quarters of an H200: what each of them was sent, as its own clock has it. */
export function readFleet(folder: string, run: string): MeasuredRun[] {
  const groups = new Map(
    rowsOf(join(folder, run, 'load.csv.gz')).map(({ request_id, group }) => [request_id!, Number(group)]),
  );
  return Array.from({ length: REPLICAS }, (_, replica) => {
    const rows = rowsOf(join(folder, run, `engine-r${replica}-requests.csv.gz`));
    const start = Math.min(...rows.map(({ arrival_us }) => Number(arrival_us)));
    const requests = rows.map((row) => ({
      group: groups.get(row.request_id!) ?? -1,
      arrivalUs: Number(row.arrival_us) - start,
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      ttftUs: Number(row.first_token_us) - Number(row.arrival_us),
      e2eUs: Number(row.last_token_us) - Number(row.arrival_us),
    }));
    return {
      set: 'llama3.2-3b, four quarters of an H200',
      name: `${run} r${replica}`,
      ...tableOf(requests, (table, row, { group }) => {
        if (group < 0) return;
        const index = table.prefixGroups.index(`prefix ${group}`);
        table.prefixGroup[row] = index;
        table.prefixTokens[index] = PREFIX_TOKENS;
      }),
      warmUp: 0,
      maxInFlight: Number.POSITIVE_INFINITY,
      model: h200ModelSpec('llama3.2-3b'),
      gpu: loadGpu('H200'),
      tp: 1,
      engine: {
        ...VLLM,
        engineRules: 'vllm-v1',
        totalKvBlocks: 3600,
        maxModelLen: 8448,
        maxNumSeqs: 64,
        maxNumBatchedTokens: 2048,
      },
    };
  });
}

function rowsOf(path: string): Record<string, string>[] {
  const [head, ...lines] = gunzipSync(readFileSync(path)).toString().trim().split('\n');
  const names = head!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [names[i]!, value])));
}
