import { PLACEHOLDERS, type ReplicaSpec } from '../contract.js';

/** The arguments and the environment of a replica that has got its port and its folder. Other braces are left alone. */
export function fillPlaceholders(
  { args, env }: Pick<ReplicaSpec, 'args' | 'env'>,
  { port, workingFolder }: { readonly port: number; readonly workingFolder: string },
): { args: string[]; env: Record<string, string> } {
  const fill = (text: string) =>
    text.replaceAll(PLACEHOLDERS.port, () => String(port)).replaceAll(PLACEHOLDERS.workingFolder, () => workingFolder);
  return {
    args: args.map(fill),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
  };
}
