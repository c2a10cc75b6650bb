import { COMMANDS } from '../commands.js';
import { COMMAND_GROUPS, type CommandEntry } from '../flags/command-line.js';
import type { Subcommand } from '../subcommands.js';
import { paragraph, sentence } from './help-text.js';
import { termList, termWidth } from './term-list.js';

const ABOUT =
  'Decides where LLM requests go, and predicts what that does to a fleet: one policy library behind a deterministic ' +
  'simulator and a live OpenAI-compatible gateway.';

/** What `twinyard` prints by itself: every command, by the job it is for. */
export function programHelp(width: number): string {
  const column = termWidth(COMMANDS.map(({ name }) => name));
  const groups = COMMAND_GROUPS.map((group) => {
    const own = COMMANDS.filter((command) => command.group === group);
    return `${group}:\n${termList(own.map(row), width, column)}`;
  });
  const more = [
    "'twinyard <command> --help' lists the flags of a command and gives examples.",
    "'twinyard demo' starts a gateway with emulated replicas to try things on.",
  ];
  return [
    'Usage: twinyard <command> [flags]\n',
    paragraph(ABOUT, width),
    ...groups,
    paragraph(more.join('\n'), width),
  ].join('\n');
}

/** The help of a command that only has subcommands. @param usage what follows a subcommand's name */
export function subcommandsHelp(
  parent: CommandEntry,
  usage: string,
  table: readonly Subcommand[],
  width: number,
): string {
  const column = termWidth(table.map(({ name }) => name));
  return [
    `Usage: twinyard ${parent.name} <command> ${usage}\n`,
    paragraph(sentence(parent.summary), width),
    `Commands:\n${termList(table.map(row), width, column)}`,
    `'twinyard ${parent.name} <command> --help' lists the flags of a command.\n`,
  ].join('\n');
}

const row = ({ name, summary }: { name: string; summary: string }) => [name, summary] as const;
