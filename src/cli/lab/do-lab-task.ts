import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareRuns } from '../../experiment/comparison/comparison.js';
import { type RunInputs, runsOf } from '../../experiment/experiment.js';
import { makeWorkload } from '../../experiment/recipes/workload-recipe.js';
import { simulateRuns } from '../../experiment/run-experiment.js';
import { inProcessExecutor } from '../../experiment/runs/executor.js';
import { NO_CACHE } from '../../experiment/runs/run-cache.js';
import { InputError } from '../../kernel/errors.js';
import type { ThreadProgress } from '../../twin/jobs/in-thread.js';
import { LAB_LIMITS } from '../../twin/lab/lab-question.js';
import type { LabResult, LabTask } from '../../twin/lab/lab-task.js';
import { COMPARE } from '../compare/compare.js';
import type { ComparisonFlags } from '../compare/compare-flags.js';
import { givenSettings } from '../compare/given-settings.js';
import { planExperiment } from '../compare/plan-experiment.js';
import type { Diagnostics } from '../diagnostics.js';
import { commandText } from '../execution/command-text.js';
import { parseFlags } from '../flags/parse-flags.js';
import { boundedResult } from './bounded-result.js';
import { tooLongPrompts, tooManyArrivals } from './errors.js';
import { labCurves } from './lab-curves.js';
import { placeLabInput } from './place-lab-input.js';

/** Flags whose value is the name of a file. */
const INPUTS: readonly string[] = ['--trace-data', '--workload-spec', '--latency-profile'];

type LabWatch = (progress: ThreadProgress) => Promise<void>;

/**
 * Runs an experiment as `compare` does, in this thread: the same flags, the same plan, the same runs, so that its document has
 * the same bytes. It computes for seconds to minutes, and waits for `watch` in between.
 * @param folder where its input is put
 */
export async function doLabTask(
  { argv, input, profile }: LabTask,
  folder: string,
  watch: LabWatch,
): Promise<LabResult> {
  await watch({ stage: 'reading', done: 0, total: 0 });
  const placed = input === null ? null : await placeLabInput(input, folder);
  if (profile !== null) writeFileSync(join(folder, profile.name), JSON.stringify(profile.document));
  const shown = withoutFolder(folder);
  try {
    const warnings: string[] = placed?.warnings ?? [];
    const diagnostics: Diagnostics = { warn: (line) => warnings.push(line), info: () => {}, debug: () => {} };
    const given = argv.map((argument, i) => (INPUTS.includes(argv[i - 1]!) ? join(folder, argument) : argument));
    const flags = await parseFlags<ComparisonFlags>(COMPARE, given);
    const executor = await inProcessExecutor();
    const simulate = (runs: readonly RunInputs[]) => simulateRuns(runs, executor, NO_CACHE);
    const experiment = await planExperiment(flags, [], givenSettings(flags).settings, diagnostics, simulate);
    const runs = runsOf(experiment).map((run): RunInputs => ({ ...run, course: true }));
    const requests = await checkLabRuns(runs);
    const summaries = [];
    for (const [done, run] of runs.entries()) {
      await watch({ stage: 'simulating', done, total: runs.length });
      summaries.push(...(await simulate([run])));
    }
    await watch({ stage: 'simulating', done: runs.length, total: runs.length });
    const found = compareRuns(experiment, summaries);
    const document = shown(found.document);
    return boundedResult({
      verdict: document.comparison.verdict,
      command: commandText('compare', argv, COMPARE),
      input: placed === null ? null : { name: input!.name, requests, sha256: placed.sha256 },
      warnings: warnings.map(shown),
      document,
      quantiles: found.quantiles,
      curves: labCurves(found, summaries),
    });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.code, shown(error.place), shown(error.problem), shown(error.hint));
  }
}

/** Refuses a workload that is too large for a server. All runs have the same, but for their seeds. Returns its requests. */
async function checkLabRuns([first]: readonly RunInputs[]): Promise<number> {
  const { workload } = await makeWorkload(first!.workload, first!.config.seed);
  const { count, inputTokens } = workload.table;
  if (count > LAB_LIMITS.requests) throw tooManyArrivals(count);
  let tokens = 0;
  for (let row = 0; row < count; row++) tokens += inputTokens[row]!;
  if (tokens > LAB_LIMITS.promptTokens) throw tooLongPrompts(tokens);
  return count;
}

/** Names the files of the folder as the command does. */
function withoutFolder(folder: string): <Value>(value: Value) => Value {
  const written = JSON.stringify(`${folder}/`).slice(1, -1);
  return (value) => JSON.parse(JSON.stringify(value).replaceAll(written, ''));
}
