import { describe, expect, it } from 'vitest';
import { fakeOutcomes } from './fake-outcomes.fixture.js';
import { modelMetrics } from './model-metrics.js';
import { RequestSampler } from './request-sample.js';

type Requests = Parameters<typeof fakeOutcomes>[0];

function metrics(list: Requests, models: readonly string[]) {
  const { outcomes, table } = fakeOutcomes(list);
  for (const [row, name] of models.entries()) table.model[row] = table.models.index(name);
  return modelMetrics(table, outcomes, new RequestSampler(outcomes, table.count), 'served');
}

describe('modelMetrics', () => {
  const done = { input: 10, ttft: 20, e2e: 45, itlSum: 25, tokens: 3 };

  it('is nothing where all requests are of one model, named or not', () => {
    expect(metrics([done, done], ['', ''])).toBeUndefined();
    expect(metrics([done, done], ['served', ''])).toBeUndefined();
  });

  it('has a section for each model, also for one of which nothing was completed', () => {
    const lost = { input: 7, tokens: 0, status: 'routing_rejected' as const, instance: -1 };
    expect(metrics([done, done, lost], ['served', '', 'other'])).toEqual({
      other: {
        ...{ requests: 1, completed: 0, input_tokens: 7, output_tokens: 0 },
        ttft: { mean_us: 0, p99_us: 0 },
        itl: { mean_us: 0, p99_us: 0 },
        e2e: { mean_us: 0, p99_us: 0 },
      },
      served: {
        ...{ requests: 2, completed: 2, input_tokens: 20, output_tokens: 6 },
        ttft: { mean_us: 20, p99_us: 20 },
        itl: { mean_us: 12.5, p99_us: 12.5 },
        e2e: { mean_us: 45, p99_us: 45 },
      },
    });
  });
});
