import type { ReplicaSpec } from './contract.js';

/** Values that only the runner knows, in arguments and in values of the environment. */
export const RUNNER_PLACEHOLDERS = {
  host: '{{host}}',
  port: '{{port}}',
  workingFolder: '{{working_folder}}',
} as const;

/** The address a replica listens on, and the folder it is started in, absolute. */
export interface PlaceholderValues {
  readonly host: string;
  readonly port: number;
  readonly workingFolder: string;
}

/** Arguments and environment with the values filled in, secrets included. Other braces are left alone. */
export function fillPlaceholders(
  { args, env, secretEnv }: Pick<ReplicaSpec, 'args' | 'env' | 'secretEnv'>,
  values: PlaceholderValues,
): { args: string[]; env: Record<string, string> } {
  const { host, port, workingFolder } = RUNNER_PLACEHOLDERS;
  const fill = (text: string) =>
    text
      .replaceAll(host, () => values.host)
      .replaceAll(port, () => String(values.port))
      .replaceAll(workingFolder, () => values.workingFolder);
  return {
    args: args.map(fill),
    env: Object.fromEntries(Object.entries({ ...env, ...secretEnv }).map(([name, value]) => [name, fill(value)])),
  };
}
