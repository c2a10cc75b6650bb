import type { Page } from 'playwright-core';
import { COMMAND_LINES } from '../../../src/cli/command-lines.js';
import type { CommandLine } from '../../../src/cli/flags/command-line.js';
import { parseFlags } from '../../../src/cli/flags/parse-flags.js';

/** The texts of the commands and calls behind a page. */
export async function commandsOn(page: Page): Promise<string[]> {
  return page.locator('.as-command .command code').allTextContents();
}

/** The first command of a page that begins so, as the command line reads it: the flags that are given, and operands. */
export async function readCommand(page: Page, start: string): Promise<Record<string, unknown>> {
  const found = (await page.locator('.command code').allTextContents()).find((text) => text.startsWith(start));
  if (found === undefined) throw new Error(`no command '${start}' on ${page.url()}`);
  const { line, words } = wordsOf(found)!;
  const { given, operands, values } = await parseFlags(line, words);
  return { operands, ...Object.fromEntries(Object.entries(values).filter(([name]) => given(name))) };
}

/** What the command line would refuse of a command that starts with `twinyard`; null if nothing. */
export async function refusalOf(command: string): Promise<string | null> {
  const found = wordsOf(command);
  if (found === null) return `${command}: there is no such command`;
  try {
    await parseFlags(found.line, found.words);
    return null;
  } catch (error) {
    return `${command}: ${(error as Error).message}`;
  }
}

function wordsOf(command: string): { line: CommandLine; words: string[] } | null {
  const [, ...words] = command.split(' ');
  const [line] = COMMAND_LINES.filter(({ name }) => `${words.join(' ')} `.startsWith(`${name} `)).sort(
    (a, b) => b.name.length - a.name.length,
  );
  return line === undefined ? null : { line, words: words.slice(line.name.split(' ').length) };
}
