import { expect, it } from 'vitest';
import { z } from 'zod';
import { optionTable } from './option-table.js';

const places = (option: string) => ({ flag: option === 'size' ? 'size' : undefined, fileKey: `x.${option}` });

it('tells what a schema says of each option', () => {
  const schema = z.strictObject({
    size: z.number().positive().default(5).describe('how large'),
    least: z.number().min(2).default(3).describe('at least'),
    any: z.number().default(0).describe('whatever'),
    end: z.enum(['left', 'right']).default('left').describe('which end'),
    list: z
      .union([z.string(), z.array(z.string())])
      .default('a')
      .describe('some'),
  });
  const lines = optionTable(schema, places).replace(/ +/g, ' ').split('\n');
  expect(lines.slice(2, -1)).toEqual([
    '| `size` | `5` | number above 0 | how large | `--size` | `x.size` |',
    '| `least` | `3` | number from 2 | at least | none | `x.least` |',
    '| `any` | `0` | number | whatever | none | `x.any` |',
    '| `end` | `left` | `left`, `right` | which end | none | `x.end` |',
    '| `list` | `a` | text or list | some | none | `x.list` |',
  ]);
});

it('says so when there are none', () => {
  expect(optionTable(z.strictObject({}), places)).toBe('It has none.\n');
});
