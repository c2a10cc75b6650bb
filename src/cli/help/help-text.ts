import { wrapText } from '../../report/text/wrap-text.js';
import type { CommandLine } from '../flags/command-line.js';
import type { Flag, FlagGroup } from '../flags/flag.js';
import { termList, termWidth } from './term-list.js';

/** Where there is no terminal: in pipes and in the documentation. */
export const DEFAULT_WIDTH = 80;

/** The help text of a command, with the names that registries own filled in, in lines of at most `width` characters. */
export async function helpText(line: CommandLine, width = DEFAULT_WIDTH): Promise<string> {
  const groups = await Promise.all(line.groups.map(withRegisteredNames));
  const lists = groups.map(({ flags, title }) => ({
    title,
    rows: Object.entries(flags).map(([name, flag]) => [flagTerm(name, flag), flagMeaning(flag)] as const),
  }));
  lists.at(-1)?.rows.push(['-h, --help', 'print this text']);
  lists.push(...((await line.more?.()) ?? []).map(({ rows, title }) => ({ title, rows: [...rows] })));
  const column = termWidth(lists.flatMap(({ rows }) => rows.map(([term]) => term)));
  const operands = line.operands === undefined ? '' : ` ${line.operands.usage}`;
  const sections = [
    `Usage: twinyard ${line.name}${operands} [flags]\n`,
    paragraph(sentence(line.summary), width),
    paragraph(line.about, width),
    ...lists.map(({ rows, title }) => `${title}:\n${termList(rows, width, column)}`),
    `Examples:\n${line.examples.map((example) => exampleText(example, width)).join('')}`,
  ];
  return sections.join('\n');
}

/** `-o, --output <file>`. */
export function flagTerm(name: string, { letter, placeholder }: Flag<unknown>): string {
  const short = letter === undefined ? '' : `-${letter}, `;
  return `${short}--${name}${placeholder === '' ? '' : ` <${placeholder}>`}`;
}

function flagMeaning({ aliases, defaultText, help }: Flag<unknown>): string {
  const others = aliases.length === 0 ? '' : `; also --${aliases.join(', --')}`;
  const standard = defaultText === '' ? '' : ` (default: ${defaultText})`;
  return `${help}${others}${standard}`;
}

/** The same flags with the names that their registries list added to their help. */
export async function withRegisteredNames(group: FlagGroup): Promise<FlagGroup> {
  const flags: Record<string, Flag<unknown>> = {};
  for (const [name, flag] of Object.entries(group.flags)) {
    flags[name] =
      flag.names === undefined ? flag : { ...flag, help: `${flag.help}: ${(await flag.names()).join(', ')}` };
  }
  return { title: group.title, flags };
}

/** A summary has no capital and no full stop in lists; alone it is a sentence. */
export function sentence(summary: string): string {
  return `${summary[0]!.toUpperCase()}${summary.slice(1)}.`;
}

export function paragraph(text: string, width: number): string {
  return `${wrapText(text, width).join('\n')}\n`;
}

/** A command line that can be pasted as it stands: continued lines end in a backslash. */
export function exampleText(example: string, width: number): string {
  const words = `twinyard ${example}`.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)!;
  const lines: string[] = [];
  let line = ' ';
  for (let i = 0; i < words.length; i++) {
    // A flag and its value stay together.
    const isPair = words[i]!.startsWith('-') && i + 1 < words.length && !words[i + 1]!.startsWith('-');
    const part = isPair ? `${words[i]} ${words[++i]}` : words[i]!;
    if (line.trim() !== '' && line.length + part.length + 3 > width) {
      lines.push(`${line} \\`);
      line = '     ';
    }
    line += ` ${part}`;
  }
  return `${[...lines, line].join('\n')}\n`;
}
