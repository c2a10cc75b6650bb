import type { CommandLine } from '../../flags/command-line.js';
import { helpText } from '../../help/help-text.js';

/** The help of a command that takes a KIND, with those there are and what they may be called. */
export async function helpWithKinds(line: CommandLine): Promise<string> {
  const { KINDS, kindNames } = await import('../../../control/resources/kinds.js');
  const rows = KINDS.map((kind) => [kindNames(kind), kind.summary] as const);
  const width = Math.max(...rows.map(([names]) => names.length));
  const list = rows.map(([names, summary]) => `  ${names.padEnd(width)}  ${summary}\n`).join('');
  return `${await helpText(line)}\nKinds:\n${list}`;
}
