// How long `plan` takes, the start of the process and its threads included, against the bounds; and what users would run instead,
// where it is installed: AISimulate's `recommend` for the same question (its command in AISIMULATE).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlanDocument } from '../../src/experiment/plan/plan-document.js';
import { BenchTable, seconds } from '../bench-table.js';

const CLI = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));
const AISIMULATE = process.env.AISIMULATE ?? '';
const QUESTION = fileURLToPath(new URL('../../../bench/experiment/aisimulate-plan.yaml', import.meta.url));
const MODEL_FOLDER = fileURLToPath(new URL('../../../catalogue/models/qwen3-14b', import.meta.url));
const MODEL =
  '--model qwen/qwen3-14b --prompt-tokens 1000 --output-tokens 300 --slo-ttft p99=500ms --slo-itl mean=30ms';

const table = new BenchTable();

function timed(
  program: string,
  args: readonly string[],
): { ms: number; stdout: string; stderr: string; status: number | null } {
  const started = performance.now();
  const { status, stderr, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: 1_200_000,
  });
  return { ms: performance.now() - started, stdout, stderr, status };
}

function planned(args: string): { ms: number; document: PlanDocument } {
  const { ms, stdout } = timed(process.execPath, [CLI, 'plan', ...`${MODEL} ${args} --no-cache`.split(' ')]);
  return { ms, document: JSON.parse(stdout) as PlanDocument };
}

const rates = Array.from({ length: 12 }, (_, i) => 1 + i).join(',');
const grid = planned(`--num-instances 1 --gpu H100,H200 --tp 1,2 --rate ${rates} --seeds 5 --num-requests 2000`);
table.report('plan: 2 GPU types x 2 tp x 12 rates x 5 seeds', seconds(grid.ms), '<= 30.000 s', grid.ms <= 30_000);

const least = planned('--rate 20 --gpu H100 --tp 1,2,4');
table.report('plan: Qwen3-14B on H100 at 20 req/s, which tp', seconds(least.ms), '<= 10.000 s', least.ms <= 10_000);
process.stderr.write(`${least.document.verdict}\n`);

if (existsSync(AISIMULATE)) {
  const folder = mkdtempSync(join(tmpdir(), 'aisimulate-'));
  // The model's configuration from the catalogue: by its name it would be downloaded.
  const question = join(folder, 'question.yaml');
  writeFileSync(question, readFileSync(QUESTION, 'utf8').replace('Qwen/Qwen3-14B', MODEL_FOLDER));
  const theirs = timed(AISIMULATE, [
    'recommend',
    '-c',
    question,
    '--output-dir',
    join(folder, 'out'),
    '--format',
    'json',
  ]);
  rmSync(folder, { recursive: true });
  if (theirs.status !== 0) process.stderr.write(theirs.stderr);
  const measured = theirs.status === 0 ? seconds(theirs.ms) : `failed after ${seconds(theirs.ms)}`;
  table.report('aisimulate recommend: the same, 24 random trials', measured, '', null);
}
table.print();
