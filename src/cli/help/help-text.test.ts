import { describe, expect, it } from 'vitest';
import { COMMAND_LINES } from '../command-lines.js';
import { COMMANDS } from '../commands.js';
import { COMMAND_GROUPS } from '../flags/command-line.js';
import { captured } from '../test-io.fixture.js';
import { exampleText, helpText } from './help-text.js';

const tooLong = (text: string, width: number) => text.split('\n').filter((line) => line.length > width);

describe('the help of a command', () => {
  it.each(COMMAND_LINES.map((line) => [line.name, line] as const))('%s fits 80 columns', async (_, line) => {
    expect(tooLong(await helpText(line), 80)).toEqual([]);
  });

  it.each(COMMAND_LINES.map((line) => [line.name, line] as const))('%s wraps to the terminal', async (name, line) => {
    const { code, stdout } = await captured(`${name} --help`, { columns: 110 });
    expect({ code, stdout }).toEqual({ code: 0, stdout: await helpText(line, 110) });
  });

  it('is as wide as COLUMNS, else as the terminal, else 80 columns', async () => {
    const longest = async (columns?: number, COLUMNS?: string) => {
      const { stdout } = await captured('run --help', { columns, env: { COLUMNS } });
      return Math.max(...stdout.split('\n').map(({ length }) => length));
    };
    expect(await longest()).toBeLessThanOrEqual(80);
    expect(await longest(60)).toBeLessThanOrEqual(60);
    expect(await longest(60, '110')).toBeGreaterThan(90);
    expect(await longest(60, 'wide')).toBeLessThanOrEqual(60);
  });

  it('puts a long flag on its own line', async () => {
    const { stdout } = await captured('run --help');
    expect(stdout).toMatch(/^ {2}--snapshot-refresh-interval <us>\n {34}age /m);
  });

  it('breaks examples so that they can be pasted', () => {
    expect(exampleText(`decide --policy-options '{"a": 1}' --explain < events.jsonl`, 40)).toBe(
      `  twinyard decide \\\n      --policy-options '{"a": 1}' \\\n      --explain < events.jsonl\n`,
    );
  });
});

describe('twinyard without arguments', () => {
  it('prints every command under its job', async () => {
    const { code, stderr, stdout } = await captured('');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/^\S.*:$/gm)).toEqual(COMMAND_GROUPS.map((group) => `${group}:`));
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    expect(tooLong(stdout, 80)).toEqual([]);
  });
});
