import { expect, it } from 'vitest';
import type { WhatIf } from '../documents';
import { namedAlternatives } from './named-alternatives';

it('tells a policy from itself with other options', () => {
  const one = { name: 'lmetric on 2 replicas', verdict: 'lmetric on 2 replicas would have given less.' };
  const other = { name: 'random on 2 replicas', verdict: 'Nothing for random on 2 replicas.' };
  const result = { verdict: '', alternatives: [one, other, one] } as unknown as WhatIf;
  const asked = [
    { policy: 'lmetric', options: {} },
    { policy: 'random', options: {} },
    { policy: 'lmetric', options: { batch_offset: 1 } },
  ];
  const { alternatives, verdict } = namedAlternatives(result, asked);
  const names = ['lmetric on 2 replicas', 'random on 2 replicas', 'lmetric batch_offset=1 on 2 replicas'];
  expect(alternatives.map(({ name }) => name)).toEqual(names);
  expect(verdict).toContain('less. Nothing for random on 2 replicas. lmetric batch_offset=1 on 2 replicas would');
});
