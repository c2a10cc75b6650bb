import type { TraceHeader, TraceServer } from '../../workload/trace.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';

/** The flag of each setting of an observed server. */
export const SERVER_FLAGS = {
  model: 'model',
  hardware: 'hardware',
  tensorParallel: 'tp',
  maxNumSeqs: 'max-num-seqs',
  maxNumBatchedTokens: 'max-num-batched-tokens',
  blockSize: 'block-size-in-tokens',
  gpuMemoryUtilization: 'gpu-memory-utilization',
  totalKvBlocks: 'total-kv-blocks',
  maxModelLen: 'max-model-len',
} as const satisfies Partial<Record<keyof TraceServer, keyof InstanceFlags>>;

type ServerFlag = (typeof SERVER_FLAGS)[keyof typeof SERVER_FLAGS];

/** The number of KV blocks follows from these: with another value the observed number is wrong. */
const MAKE_MEMORY: readonly ServerFlag[] = ['hardware', 'tp', 'block-size-in-tokens', 'gpu-memory-utilization'];

/**
 * The flags, with the settings of the server that an observed trace comes from where none was given. Another
 * model means another server.
 */
export function withServerSettings<Table extends InstanceFlags>(
  flags: FlagValues<Table>,
  { mode, server }: TraceHeader,
  diagnostics: Diagnostics,
): FlagValues<Table> {
  if (mode !== 'real' || server === undefined) return flags;
  const given = (flag: ServerFlag) => (flags.given(flag) ? flags.values[flag] : null);
  const model = given('model') as string | null;
  if (model !== null && model.toLowerCase() !== server.model?.toLowerCase()) return flags;
  const taken = new Map<ServerFlag, string | number>();
  for (const [name, flag] of Object.entries(SERVER_FLAGS) as [keyof typeof SERVER_FLAGS, ServerFlag][]) {
    const value = server[name];
    if (value !== undefined && value !== 0 && !flags.given(flag)) taken.set(flag, value);
  }
  const isOtherMemory = (flag: ServerFlag) => {
    const setting = Object.entries(SERVER_FLAGS).find(([, name]) => name === flag)![0] as keyof TraceServer;
    return flags.given(flag) && flags.values[flag] !== server[setting];
  };
  if (MAKE_MEMORY.some(isOtherMemory)) taken.delete('total-kv-blocks');
  const list = [...taken].map(([flag, value]) => `--${flag} ${value}`);
  if (list.length > 0) diagnostics.info(`as observed: ${list.join(' ')}`);
  return { ...flags, values: { ...flags.values, ...Object.fromEntries(taken) } };
}
