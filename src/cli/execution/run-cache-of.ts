import { isAbsolute, join } from 'node:path';
import { NO_CACHE, openRunCache, type RunCache } from '../../experiment/runs/run-cache.js';
import { InputError } from '../../kernel/errors.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { ExecutionFlags } from './execution-flags.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The cache of the flags. Where the default folder cannot be used, nothing is cached. */
export async function runCacheOf(
  { values, given }: FlagValues<Pick<ExecutionFlags, 'cache' | 'no-cache'>>,
  env: Env,
  diagnostics: Diagnostics,
): Promise<RunCache> {
  if (values['no-cache']) {
    if (given('cache')) throw conflictingFlags('--no-cache', 'given together with --cache', 'keep one of them');
    return NO_CACHE;
  }
  const folder = values.cache ?? defaultFolder(env);
  if (folder === null) return NO_CACHE;
  try {
    return await openRunCache(folder);
  } catch (error) {
    if (values.cache !== null || !(error instanceof InputError)) throw error;
    diagnostics.warn(`${folder}: ${error.problem}; results are not cached`);
    return NO_CACHE;
  }
}

/** Null when the environment names no folder. */
function defaultFolder({ XDG_CACHE_HOME, HOME, LOCALAPPDATA }: Env): string | null {
  const base = [XDG_CACHE_HOME, HOME && join(HOME, '.cache'), LOCALAPPDATA].find((path) => path && isAbsolute(path));
  return base === undefined ? null : join(base, 'twinyard', 'runs');
}
