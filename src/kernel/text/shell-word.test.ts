import { expect, it } from 'vitest';
import { shellWord } from './shell-word.js';

it('quotes what a shell would not take as it is', () => {
  expect(['p99=500ms', 'a b', '', "it's", '$(x)'].map(shellWord)).toEqual([
    'p99=500ms',
    "'a b'",
    "''",
    "'it'\\''s'",
    "'$(x)'",
  ]);
});
