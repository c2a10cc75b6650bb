import { summaryOf } from '../commands.js';
import { badChoice } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import type { CompletedCommand } from './completion-model.js';

/** Shells that a script can be made for: a new one is a file and a line here. */
const SHELLS: Readonly<Record<string, () => Promise<(model: readonly CompletedCommand[]) => string>>> = {
  bash: async () => (await import('./bash-script.js')).bashScript,
  zsh: async () => (await import('./zsh-script.js')).zshScript,
  fish: async () => (await import('./fish-script.js')).fishScript,
};

export const COMPLETION: CommandLine = {
  name: 'completion',
  summary: summaryOf('completion'),
  about:
    'The script completes commands, flags, names of policies, scorers, models and resource kinds, and the names of resources of a ' +
    "running control plane. Load it with 'source <(twinyard completion bash)' in ~/.bashrc, 'source <(twinyard completion zsh)' " +
    "after compinit in ~/.zshrc, or 'twinyard completion fish > ~/.config/fish/completions/twinyard.fish'.",
  operands: { usage: 'bash|zsh|fish', least: 1, most: 1 },
  groups: [{ title: 'Output', flags: {} }],
  examples: ['completion bash', 'completion zsh', 'completion fish'],
};

export async function completion(argv: readonly string[], io: CliIo): Promise<number> {
  // What the scripts themselves run: not for people, and not in the help.
  if (argv[0] === 'names') {
    const { resourceNames } = await import('./resource-names.js');
    for (const name of await resourceNames(argv[1] ?? '', argv.slice(2), io)) io.stdout.write(`${name}\n`);
    return 0;
  }
  const { operands } = await parseFlags(COMPLETION, argv);
  const shell = operands[0]!;
  if (!Object.hasOwn(SHELLS, shell)) throw badChoice('shell', shell, Object.keys(SHELLS));
  const [{ completionModel }, script] = await Promise.all([import('./completion-model.js'), SHELLS[shell]!()]);
  io.stdout.write(script(await completionModel()));
  return 0;
}
