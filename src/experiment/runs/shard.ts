import type { RunInputs } from '../experiment.js';
import { programFingerprint, runKeys } from './run-key.js';
import type { RunSummary } from './run-summary.js';

/**
 * One simulation of an experiment, a point with a seed. Its hash covers all that its result depends on, so that its
 * result is the same bytes wherever, whenever and however often it is computed: experiments that share a shard share
 * its result, and one that was interrupted continues.
 */
export interface Shard {
  hash: string;
  inputs: RunInputs;
}

/**
 * @param isShared whether results are kept or come from other processes: then the program is part of the hash. Without,
 * it only has to distinguish the runs of this process.
 */
export async function shardsOf(runs: readonly RunInputs[], isShared: boolean): Promise<Shard[]> {
  const hashes = runKeys(runs, isShared ? await programFingerprint() : '');
  return runs.map((inputs, i) => ({ hash: hashes[i]!, inputs }));
}

/** The result of a shard as it is sent and kept. */
export function resultBytes(summary: RunSummary): string {
  return JSON.stringify(summary);
}

export function readResult(bytes: string): RunSummary {
  return JSON.parse(bytes) as RunSummary;
}
