import { always, Bounds, type LengthDistribution } from './length-distribution.js';

export const constantLength: LengthDistribution = {
  name: 'constant',
  summary: 'always the same',
  parameters: { value: { values: 'amount', needed: true, help: 'the length' } },
  create: (parameters, limits) => always(new Bounds({}, limits).whole(parameters.value!)),
};
