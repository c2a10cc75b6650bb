import type { Page } from 'playwright-core';
import { COMMAND_LINES } from '../../../src/cli/command-lines.js';
import { parseFlags } from '../../../src/cli/flags/parse-flags.js';

/** The texts of the commands and calls behind a page. */
export async function commandsOn(page: Page): Promise<string[]> {
  return page.locator('.as-command .command code').allTextContents();
}

/** What the command line would refuse of a command that starts with `twinyard`; null if nothing. */
export async function refusalOf(command: string): Promise<string | null> {
  const [, ...words] = command.split(' ');
  const line = COMMAND_LINES.filter(({ name }) => `${words.join(' ')} `.startsWith(`${name} `)).sort(
    (a, b) => b.name.length - a.name.length,
  )[0];
  if (line === undefined) return `${command}: there is no such command`;
  try {
    await parseFlags(line, words.slice(line.name.split(' ').length));
    return null;
  } catch (error) {
    return `${command}: ${(error as Error).message}`;
  }
}
