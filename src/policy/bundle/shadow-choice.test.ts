import { expect, it } from 'vitest';
import { shadowChoices, shadowKeys } from './shadow-choice.js';

const placeOf = (key: string) => `routing.${key}`;

it('are named after their policies, and written as they were read', () => {
  const given = [
    { policy: 'lmetric' },
    { policy: 'weighted', name: 'mine', scorers: [{ name: 'queue-depth', weight: 2 }] },
  ];
  const choices = shadowChoices(given, placeOf);
  expect(choices.map(({ name, policy }) => [name, policy])).toEqual([
    ['lmetric', 'lmetric'],
    ['mine', 'weighted'],
  ]);
  expect(shadowChoices(choices.map(shadowKeys), placeOf)).toEqual(choices);
});

it('have names of their own', () => {
  const twice = [{ policy: 'lmetric' }, { policy: 'lmetric' }];
  expect(() => shadowChoices(twice, placeOf)).toThrow("routing.shadow[1].policy: there are two shadows 'lmetric'");
  const named = [{ policy: 'lmetric' }, { policy: 'weighted', name: 'lmetric' }];
  expect(() => shadowChoices(named, placeOf)).toThrow("routing.shadow[1].name: there are two shadows 'lmetric'");
});

it('read prompts in the blocks of the policy that serves', () => {
  const own = [{ policy: 'lmetric', options: { block_size: 64 } }];
  expect(() => shadowChoices(own, placeOf)).toThrow(
    /routing\.shadow\[0\]\.options: a shadow reads prompts in the blocks/,
  );
});
