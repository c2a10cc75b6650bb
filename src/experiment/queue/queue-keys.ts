import { readFileSync } from 'node:fs';
import { packagePath } from '../../files/package-path.js';

/** All keys start with this. */
export const NAMESPACE = 'twinyard';

/** How long results, records and jobs stay, in seconds. */
export const KEEP_S = 7 * 86_400;
/** Inputs are large, and are renewed by every use. */
export const KEEP_INPUTS_S = 86_400;
/** A process that does not renew its entry within this time is gone. */
export const PRESENT_S = 60;

export const resultKey = (hash: string) => `${NAMESPACE}:result:${hash}`;
export const inputKey = (hash: string) => `${NAMESPACE}:input:${hash}`;
export const chunkKey = (hash: string, chunk: number) => `${NAMESPACE}:input:${hash}:${chunk}`;
export const experimentKey = (id: string) => `${NAMESPACE}:experiment:${id}`;
export const shardsKey = (id: string) => `${NAMESPACE}:experiment:${id}:shards`;
export const EXPERIMENTS_KEY = `${NAMESPACE}:experiments`;
export const WORKERS_KEY = `${NAMESPACE}:workers`;

/** Each build of the program has its own queue: a worker of another one cannot take a shard. */
export function queueName(program: string): string {
  return `shards-${program.slice(0, 16)}`;
}

/** The program that computes: workers and coordinators must have the same. */
export interface ProgramVersion {
  version: string;
  /** `programFingerprint`. */
  program: string;
}

export function programVersion(program: string): ProgramVersion {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  return { version, program };
}

/** `0.1.0 (build 3f2a91c0)`: versions alone may be equal. */
export function versionText({ program, version }: ProgramVersion): string {
  return `${version} (build ${program.slice(0, 8)})`;
}

/**
 * Keys of the queue itself: they expire when no worker and no coordinator renews them. Not `stalled-check`, whose own time to live
 * is how often the queue looks for lost workers.
 */
export function queueKeys(program: string): string[] {
  const names = ['meta', 'id', 'events', 'marker', 'wait', 'active', 'delayed', 'failed', 'completed', 'stalled'];
  return names.map((name) => `${NAMESPACE}:${queueName(program)}:${name}`);
}

export const jobKey = (program: string, hash: string) => `${NAMESPACE}:${queueName(program)}:${hash}`;
