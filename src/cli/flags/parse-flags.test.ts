import { describe, expect, it } from 'vitest';
import { helpText } from '../help/help-text.js';
import type { CommandLine } from './command-line.js';
import { choiceFlag, count, file, registered, toggle } from './kinds.js';
import { parseFlags } from './parse-flags.js';

const flags = {
  rate: count({ default: 5, min: 1, help: 'requests per second' }),
  'max-num-seqs': count({ default: 256, min: 1, aliases: ['max-num-running-reqs'], help: 'requests in a batch' }),
  format: choiceFlag({ default: 'json', known: ['json', 'table'], help: 'how it looks' }),
  policy: registered({ default: 'a', names: async () => ['alpha', 'beta'], help: 'who decides' }),
  'flow-control': toggle({ help: 'hold requests back' }),
  out: file({ help: 'where to' }),
};
const LINE: CommandLine = {
  name: 'try',
  summary: 'try things',
  about: 'Use it in tests.',
  groups: [{ title: 'Things', flags }],
  examples: ['try --rate 3'],
};
const parse = (...argv: string[]) => parseFlags<typeof flags>(LINE, argv);

describe('parseFlags', () => {
  it('fills in defaults and knows what was given', async () => {
    const { values, given } = await parse('--rate', '7', '--flow-control');
    expect(values).toEqual({
      rate: 7,
      'max-num-seqs': 256,
      format: 'json',
      policy: 'a',
      'flow-control': true,
      out: null,
    });
    expect([given('rate'), given('flow-control'), given('out')]).toEqual([true, true, false]);
  });

  it('accepts values after an equals sign, and aliases', async () => {
    const { values } = await parse('--rate=9', '--max-num-running-reqs', '3', '--out=a=b');
    expect(values).toMatchObject({ rate: 9, 'max-num-seqs': 3, out: 'a=b' });
  });

  it('accepts a flag that is given twice with the same value', async () => {
    expect((await parse('--rate', '3', '--rate', '3')).values.rate).toBe(3);
  });

  it.each([
    [['--rat', '3'], 'UNKNOWN_FLAG', "--rat: no such flag; did you mean --rate? see 'twinyard try --help'"],
    [['--rat=3'], 'UNKNOWN_FLAG', '--rat: no such flag; did you mean --rate?'],
    [['--wholly-unknown'], 'UNKNOWN_FLAG', "--wholly-unknown: no such flag; see 'twinyard try --help'"],
    [['-r', '3'], 'UNKNOWN_FLAG', '-r: no such flag'],
    [['stray'], 'UNEXPECTED_ARGUMENT', "'stray': unexpected argument"],
    [['--rate', '3', 'stray'], 'UNEXPECTED_ARGUMENT', "'stray'"],
    [['--rate'], 'MISSING_VALUE', '--rate: needs a value; give a whole number of at least 1'],
    [['--max-num-running-reqs'], 'MISSING_VALUE', '--max-num-running-reqs: needs a value'],
    [['--rate', '--out', 'x'], 'MISSING_VALUE', '--rate: needs a value'],
    [['--rate', '3', '--rate', '4'], 'REPEATED_FLAG', "--rate: given twice, as '3' and as '4'"],
    [['--max-num-seqs', '3', '--max-num-running-reqs', '4'], 'REPEATED_FLAG', '--max-num-running-reqs: given twice'],
    [['--flow-control=yes'], 'UNEXPECTED_VALUE', "--flow-control: is a switch and takes no value, not 'yes'"],
    [['--rate', 'fast'], 'BAD_VALUE', "--rate: 'fast' is not a number"],
    [['--format', 'tabel'], 'BAD_CHOICE', "--format: 'tabel' is not known; did you mean 'table'?"],
    [['--policy', 'alpa'], 'BAD_CHOICE', "--policy: 'alpa' is not known; did you mean 'alpha'? known: alpha, beta"],
    [['--out', ' '], 'BAD_VALUE', "--out: ' ' is empty"],
  ])('refuses %j', async (argv, code, message) => {
    const error = await parse(...argv).catch((caught) => caught);
    expect(error).toMatchObject({ name: 'InputError', code });
    expect(error.message).toContain(message);
  });

  it('does not load a registry for flags that are not given', async () => {
    const broken = { ...flags, policy: { ...flags.policy, names: () => Promise.reject(new Error('loaded')) } };
    const line = { ...LINE, groups: [{ title: 'Things', flags: broken }] };
    await expect(parseFlags(line, ['--rate', '1'])).resolves.toBeDefined();
    await expect(parseFlags(line, ['--policy', 'alpha'])).rejects.toThrow('loaded');
  });
});

describe('an argument without a flag', () => {
  const line: CommandLine = {
    ...LINE,
    operands: { usage: 'FILE', least: 1, most: 2 },
    groups: [{ title: 'Things', flags: { ...flags, out: { ...flags.out, letter: 'o' } } }],
  };

  it('may be anywhere between flags, and flags may be letters', async () => {
    const { operands, values } = await parseFlags<typeof flags>(line, ['a', '-o', '-', '--rate', '3', 'b']);
    expect([operands, values.out, values.rate]).toEqual([['a', 'b'], '-', 3]);
    expect((await parse('--rate', '1')).operands).toEqual([]);
  });

  it.each([
    [[], 'MISSING_ARGUMENT', "FILE: is required; write 'twinyard try FILE'; see 'twinyard try --help'"],
    [['a', 'b', 'c'], 'UNEXPECTED_ARGUMENT', "'c': unexpected argument; 'try' takes FILE only"],
    [['a', '-o'], 'MISSING_VALUE', '-o: needs a value; give a path'],
    [['a', '-o', 'x', '--out', 'y'], 'REPEATED_FLAG', "--out: given twice, as 'x' and as 'y'"],
    [['a', '-p'], 'UNKNOWN_FLAG', '-p: no such flag'],
  ])('refuses %j', async (argv, code, message) => {
    const error = await parseFlags(line, argv).catch((caught) => caught);
    expect(error).toMatchObject({ name: 'InputError', code });
    expect(error.message).toContain(message);
  });

  it('is part of the usage', async () => {
    const text = await helpText(line);
    expect(text).toMatch(/^Usage: twinyard try FILE \[flags\]$/m);
    expect(text).toMatch(/^ {2}-o, --out <file> +where to$/m);
  });
});

describe('helpText', () => {
  it('shows every flag on its own line, with defaults, registered names and examples', async () => {
    const text = await helpText(LINE);
    expect(text).toMatch(/^Things:$/m);
    expect(text).toMatch(/^ {2}--rate <n> +requests per second \(default: 5\)$/m);
    expect(text).toMatch(
      /^ {2}--max-num-seqs <n> +requests in a batch; also --max-num-running-reqs \(default:\n {22}256\)$/m,
    );
    expect(text).toMatch(/^ {2}--policy <name> +who decides: alpha, beta \(default: a\)$/m);
    expect(text).toMatch(/^ {2}--flow-control +hold requests back$/m);
    expect(text).toMatch(/^Examples:\n {2}twinyard try --rate 3$/m);
  });
});
