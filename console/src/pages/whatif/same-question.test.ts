import { describe, expect, it } from 'vitest';
import { askedIn, bodyOf, searchOf } from './question';
import { isSameQuestion } from './same-question';

const QUEUE = { max_concurrency: 100, queue_shedding: false };

describe('the question of a result and that of the form', () => {
  const asked = {
    policies: [{ policy: 'lmetric', options: { batch_offset: 1 } }],
    admission: { policy: 'token-bucket', options: { capacity: 5 } },
    flow_control: { ...QUEUE, max_concurrency: 8 },
    ...{ replicas: 3, last: '1h', to: '2030-01-31T12:00:00.000Z' },
  };
  const search = {
    ...{ policy: 'lmetric', options: '{"lmetric":{"batch_offset":1}}', replicas: '3', to: asked.to },
    ...{ admission: 'token-bucket', admission_options: '{"capacity":5}', queue: '{"max_concurrency":8}' },
  };

  it('are the same whether defaults are written or not', () => {
    expect(isSameQuestion('whatif', search, asked, QUEUE)).toBe(true);
    expect(isSameQuestion('whatif', { ...searchOf('whatif', asked), job: 'one' }, asked, QUEUE)).toBe(true);
    expect(isSameQuestion('advice', {}, { last: '24h', metric: 'ttft_p90_ms' }, QUEUE)).toBe(true);
    const plan = { ttft: '500' };
    expect(
      isSameQuestion('plan', plan, { ...bodyOf('plan', plan), last: '1h', times: 1, max_replicas: 64 }, QUEUE),
    ).toBe(true);
  });

  it.each([
    { replicas: '4' },
    { to: undefined },
    { options: undefined },
    { policy: 'lmetric,unified' },
    { admission_options: undefined },
    { queue: '{}' },
    { queue: 'none' },
    { last: '6h' },
  ])('differ with %j', (change) => {
    expect(isSameQuestion('whatif', { ...search, ...change }, asked, QUEUE)).toBe(false);
  });
});

it('has the same policy twice, with other options', () => {
  const policies = [
    { policy: 'lmetric', options: {} },
    { policy: 'round-robin', options: {} },
    { policy: 'lmetric', options: { batch_offset: 1 } },
    { policy: 'lmetric', options: { batch_offset: 2 } },
  ];
  const search = searchOf('whatif', { policies });
  expect(search.options).toBe('{"lmetric 2":{"batch_offset":1},"lmetric 3":{"batch_offset":2}}');
  expect(askedIn(search)).toEqual(policies);
  expect(bodyOf('whatif', search)).toEqual({ policies });
});
