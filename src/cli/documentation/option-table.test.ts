import { expect, it } from 'vitest';
import { NO_OPTIONS } from '../../policy/options.js';
import { above, choice, field, number } from '../../schema/fields.js';
import { optionTable } from './option-table.js';

const places = (option: string) => ({ flag: option === 'size' ? 'size' : undefined, fileKey: `x.${option}` });

it('lists the options of a policy', () => {
  const schema = {
    size: field(above(0), { default: 5, help: 'how large' }),
    least: field(number(2), { default: 3, help: 'at least' }),
    any: field(number(), { default: 0, help: 'any number' }),
    end: field(choice(['left', 'right']), { default: 'left', help: 'which end' }),
  };
  const lines = optionTable(schema, places).replace(/ +/g, ' ').split('\n');
  expect(lines.slice(2, -1)).toEqual([
    '| `size` | `5` | a number above 0 | how large | `--size` | `x.size` |',
    '| `least` | `3` | a number of at least 2 | at least | none | `x.least` |',
    '| `any` | `0` | a number | any number | none | `x.any` |',
    '| `end` | `left` | one of left, right | which end | none | `x.end` |',
  ]);
});

it('reports that there are none', () => {
  expect(optionTable(NO_OPTIONS, places)).toBe('It has none.\n');
});
