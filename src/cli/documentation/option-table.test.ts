import { expect, it } from 'vitest';
import { choiceOption, NO_OPTIONS, numberOption } from '../../policy/options.js';
import { optionTable } from './option-table.js';

const places = (option: string) => ({ flag: option === 'size' ? 'size' : undefined, fileKey: `x.${option}` });

it('tells what a policy says of each option', () => {
  const schema = {
    size: numberOption({ default: 5, above: 0, help: 'how large' }),
    least: numberOption({ default: 3, from: 2, help: 'at least' }),
    any: numberOption({ default: 0, help: 'whatever' }),
    end: choiceOption(['left', 'right'], { default: 'left', help: 'which end' }),
  };
  const lines = optionTable(schema, places).replace(/ +/g, ' ').split('\n');
  expect(lines.slice(2, -1)).toEqual([
    '| `size` | `5` | number above 0 | how large | `--size` | `x.size` |',
    '| `least` | `3` | number from 2 | at least | none | `x.least` |',
    '| `any` | `0` | number | whatever | none | `x.any` |',
    "| `end` | `left` | 'left' or 'right' | which end | none | `x.end` |",
  ]);
});

it('says so when there are none', () => {
  expect(optionTable(NO_OPTIONS, places)).toBe('It has none.\n');
});
