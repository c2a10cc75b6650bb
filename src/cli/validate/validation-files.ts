import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeProblem } from '../../files/file-problem.js';
import { unwritableOutput } from '../errors.js';
import { checkOutputs, type NamedPath } from '../output/output-files.js';
import { traceFiles } from '../output/output-paths.js';

/** Everything that a validation keeps. */
export interface ValidationFiles {
  folder: string;
  /** Of the trace. */
  prefix: string;
  data: string;
  header: string;
  chunkTimes: string;
  results: string;
  metrics: string;
  comparison: string;
}

const FLAG = '--output-dir';

/** Creates the folder and checks that all files and `report` can be written. */
export function validationFiles(folder: string, report: string | null): ValidationFiles {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw unwritableOutput(FLAG, folder, writeProblem(error), 'give a folder that may be written');
  }
  const prefix = join(folder, 'observed');
  const files = {
    folder,
    prefix,
    ...traceFiles(prefix),
    chunkTimes: `${prefix}.itl.csv`,
    results: join(folder, 'results.json'),
    metrics: join(folder, 'metrics.json'),
    comparison: join(folder, 'calibration.json'),
  };
  const { comparison, data, header, metrics, results } = files;
  const own = [header, data, results, metrics, comparison].map((path): NamedPath => ({ flag: FLAG, path }));
  checkOutputs([...own, ...(report === null ? [] : [{ flag: '--report', path: report }])], []);
  return files;
}

/** Removes the results of an earlier validation: they do not belong to this observation. */
export function removeOld({ comparison, metrics, results }: ValidationFiles): void {
  for (const path of [results, metrics, comparison]) rmSync(path, { force: true });
}
