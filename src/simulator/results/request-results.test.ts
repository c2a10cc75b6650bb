import { describe, expect, it } from 'vitest';
import { fakeOutcomes } from './fake-outcomes.fixture.js';
import { requestResults } from './request-results.js';

describe('requestResults', () => {
  it('has every key of a completed request, in whole microseconds but for the mean gap', () => {
    const { table, outcomes } = fakeOutcomes([
      { at: 5, input: 9, output: 3, instance: 2, delay: 1, ttft: 20, e2e: 45, itlSum: 25, tokens: 3 },
    ]);
    expect(requestResults(table, outcomes, [0], 'served')).toEqual([
      {
        request_id: 'request_0',
        instance: 'instance_2',
        status: 'completed',
        arrival_us: 5,
        scheduling_delay_us: 1,
        ttft_us: 20,
        itl_mean_us: 12.5,
        e2e_us: 45,
        input_tokens: 9,
        output_tokens: 3,
        slo_class: 'default',
        tenant: null,
        session: null,
        round: null,
        model: 'served',
        gateway_wait_us: null,
      },
    ]);
  });

  it('has null for what never happened', () => {
    const { table, outcomes } = fakeOutcomes([{ status: 'rejected', instance: -1 }]);
    expect(requestResults(table, outcomes, [0], 'served')).toMatchObject([
      { instance: null, status: 'rejected', scheduling_delay_us: null, ttft_us: null, itl_mean_us: null, e2e_us: null },
    ]);
  });

  it('lists rows in the order given', () => {
    const { table, outcomes } = fakeOutcomes([{}, {}, {}]);
    expect(requestResults(table, outcomes, [2, 0], 'served').map((one) => one.request_id)).toEqual([
      'request_2',
      'request_0',
    ]);
  });

  it('names class, tenant, session, round and model of a request that has them', () => {
    const { table, outcomes } = fakeOutcomes([{}]);
    table.sloClass[0] = table.sloClasses.index('critical');
    table.tenant[0] = table.tenants.index('shop');
    table.session[0] = table.sessions.index('ana');
    table.round[0] = 2;
    table.model[0] = table.models.index('other');
    expect(requestResults(table, outcomes, [0], 'served')).toMatchObject([
      { slo_class: 'critical', tenant: 'shop', session: 'ana', round: 2, model: 'other' },
    ]);
  });
});
