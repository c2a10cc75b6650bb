import { expect, it } from 'vitest';
import { SWEEP } from '../sweep/sweep.js';
import { commandText } from './command-text.js';

it.each<[string[], string]>([
  [['--axis', 'rate=1,2', '--format', 'table'], '--axis rate=1,2'],
  [['--format=csv', '--no-cache', 'a.yaml', '--workers', '2'], 'a.yaml'],
  [['--constraint', "it's > 5"], "--constraint 'it'\\''s > 5'"],
  [['--flow-control', '--report', 'x.html', '--rate', '5'], '--flow-control --rate 5'],
])('%s', (argv, text) => {
  expect(commandText('sweep', argv, SWEEP)).toBe(`twinyard sweep ${text}`);
});
