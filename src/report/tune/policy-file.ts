import type { TuneDocument } from '../../experiment/tune/tune-document.js';

/** The chosen policies as a file that `run --policy-config` and `serve --policy-config` read, with the reason on top. */
export async function policyFileText({ chosen, parts, verdict }: TuneDocument): Promise<string> {
  const { stringify } = await import('yaml');
  const comment = [verdict, `${parts[0]!.toUpperCase()}${parts.slice(1)}.`].map((line) => `# ${line}\n`).join('');
  return comment + stringify(chosen.policies);
}
