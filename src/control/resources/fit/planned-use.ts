import type { EngineVersion } from '../kinds/engine.js';

/** An endpoint as far as its memory and its GPUs are concerned. Fields that are not valid are absent. */
export interface PlannedUse {
  readonly version: Pick<EngineVersion, 'command' | 'parameters'>;
  readonly model: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** 0: none. */
  readonly gpus: number;
  readonly product: string | null;
  /** The GPUs that its cluster is known to have. */
  readonly accelerators: readonly KnownGpu[];
}

export interface KnownGpu {
  readonly product: string;
  readonly memoryGiB: number;
}

/** The flags by which engines limit their share of GPU memory. */
export const MEMORY_FRACTIONS = ['gpu_memory_utilization', 'mem_fraction_static'] as const;

/** Engines that are part of this program use no GPU. */
export const isEmulated = ({ command }: PlannedUse['version']) => command.includes('{self...}');

/** A variable that is a number, with its name. */
export interface NumberVariable {
  readonly name: string;
  readonly value: number;
}

export function numberVariable(
  variables: PlannedUse['variables'],
  names: readonly string[],
): NumberVariable | undefined {
  for (const name of names) {
    const value = variables[name];
    if (typeof value === 'number' && Number.isFinite(value)) return { name, value };
  }
  return undefined;
}
