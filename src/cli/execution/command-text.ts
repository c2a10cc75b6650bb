import { shellWord } from '../../kernel/text/shell-word.js';
import { type CommandLine, flagsOf } from '../flags/command-line.js';

/** Flags that choose where runs are computed and how the result is shown: the result is the same with any of them. */
const OF_EXECUTION = [
  'workers',
  'cache',
  'no-cache',
  'executor',
  'detach',
  'shared-path',
  'max-upload-mib',
  'report',
  'format',
  'log',
];

/** The command that computes the same result, as a shell takes it. */
export function commandText(name: string, argv: readonly string[], line: CommandLine): string {
  const flags = flagsOf(line);
  const kept: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    const [flag, value] = argument.startsWith('--') ? argument.slice(2).split(/=(.*)/s) : ['', undefined];
    const takesValue = value === undefined && Object.hasOwn(flags, flag!) && flags[flag!]!.kind !== 'switch';
    const parts = takesValue && i + 1 < argv.length ? [argument, argv[++i]!] : [argument];
    if (!OF_EXECUTION.includes(flag!)) kept.push(...parts);
  }
  return ['twinyard', name, ...kept.map(shellWord)].join(' ');
}
