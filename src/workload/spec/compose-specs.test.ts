import { describe, expect, it } from 'vitest';
import { RateShares } from '../generate/rate-shares.js';
import { client, cohort, specOf } from '../generate/test-spec.fixture.js';
import { composeSpecs } from './compose-specs.js';
import { trafficOf } from './walk.js';
import type { WorkloadSpec } from './workload-spec.js';

const parts = (...specs: WorkloadSpec[]) => specs.map((spec, i) => ({ path: `in/${'abc'[i]}.yaml`, spec }));

function ratesOf(spec: WorkloadSpec): Record<string, number> {
  const shares = new RateShares(spec);
  return Object.fromEntries([...trafficOf(spec)].map(({ traffic }) => [traffic.id, shares.rateOf(traffic)]));
}

describe('composeSpecs', () => {
  it('adds rates up so that every client keeps its rate, cohorts included', () => {
    const day = specOf([client('x', { rate_fraction: 3 }), client('y', { rate_fraction: 1 })], { aggregate_rate: 8 });
    const night = specOf([client('z')], { aggregate_rate: 6, cohorts: [cohort('crowd', 9, { rate_fraction: 2 })] });
    const { spec, notes } = composeSpecs(parts(day, night));
    expect(spec.aggregate_rate).toBe(14);
    for (const [id, rate] of Object.entries({ ...ratesOf(day), ...ratesOf(night) })) {
      expect(ratesOf(spec)[id], id).toBeCloseTo(rate, 9);
    }
    expect(notes).toEqual([]);
    expect(day.clients![0]!.rate_fraction).toBe(3);
  });

  it('leaves users as they are, and absolute rates too', () => {
    const users = specOf([client('users', { concurrency: 4 })], { aggregate_rate: 9 });
    const window = { start_us: 0, end_us: 5, trace_rate: 7 };
    const absolute = specOf([client('w', { lifecycle: { windows: [window] } })], { aggregate_rate: 0 });
    const { spec } = composeSpecs(parts(users, absolute));
    expect(spec).not.toHaveProperty('aggregate_rate');
    expect(spec.clients![0]).toEqual(client('users', { concurrency: 4 }));
    expect(spec.clients![1]!.lifecycle!.windows).toEqual([window]);
    const steady = specOf([client('a')], { aggregate_rate: 4 });
    expect(composeSpecs(parts(users, steady)).spec).toMatchObject({ aggregate_rate: 4 });
  });

  it('scales the shares of windows and spikes as well', () => {
    const windows = [{ start_us: 0, end_us: 5, trace_rate: 4 }];
    const spike = { start_time_us: 0, duration_us: 5, trace_rate: 2 };
    const a = specOf([client('a', { lifecycle: { windows } })], {
      cohorts: [cohort('c', 1, { spike })],
      aggregate_rate: 5,
    });
    const { spec, notes } = composeSpecs(parts(a, specOf([client('b')], { aggregate_rate: 15 })));
    expect(spec.clients!.map(({ rate_fraction }) => rate_fraction)).toEqual([0.125, 0.75]);
    expect(spec.clients![0]!.lifecycle!.windows[0]!.trace_rate).toBe(0.5);
    expect(spec.cohorts![0]!.spike!.trace_rate).toBe(0.25);
    expect(notes).toEqual([expect.stringContaining('in/a.yaml: clients that are not always active share the rate')]);
  });

  it('puts the name of the file in front of an id that is taken, and reports it', () => {
    const a = specOf([client('chat')]);
    const { spec, notes } = composeSpecs(parts(a, structuredClone(a)));
    expect(spec.clients!.map(({ id }) => id)).toEqual(['chat', 'b/chat']);
    expect(notes).toEqual([
      expect.stringContaining("in/b.yaml: 'chat' is the id of in/a.yaml too, here it becomes 'b/chat'"),
    ]);
    const again = composeSpecs.bind(null, [...parts(a, a), { path: 'b.yml', spec: a }]);
    expect(again).toThrow("b.yml (chat): 'chat' and 'b/chat' are ids of in/b.yaml too; rename one of them");
  });

  it('reports what it leaves out, and keeps values that all share', () => {
    const a = specOf([client('a')], { seed: 1, num_requests: 5, horizon: 9, category: 'reasoning' });
    const b = specOf([client('b')], { horizon: 9, category: 'language' });
    const { spec, notes } = composeSpecs(parts(a, b));
    expect(spec).toMatchObject({ version: '2', category: 'reasoning', horizon: 9 });
    expect(Object.keys(spec)).not.toContain('seed');
    expect(notes).toEqual([
      'in/a.yaml: seed 1 is left out; set --seed when you run it',
      'in/a.yaml: num_requests 5 is left out; set --num-requests when you run it',
    ]);
    const other = composeSpecs(parts(a, specOf([client('b')])));
    expect(other.spec).not.toHaveProperty('horizon');
    expect(other.notes[0]).toBe('in/a.yaml: horizon 9 is left out, as the others have another or none');
  });

  it('reports prefixes that become one', () => {
    const a = specOf([client('a', { prefix_group: 'p' }), client('a2', { prefix_group: 'p' })]);
    const b = specOf([client('b', { prefix_group: 'p' })]);
    expect(composeSpecs(parts(a, b)).notes).toEqual([
      "in/b.yaml: prefix_group 'p' is that of in/a.yaml too: they share one prefix",
    ]);
    const longer = specOf([client('b', { prefix_group: 'p', prefix_length: 99 })]);
    expect(() => composeSpecs(parts(a, longer))).toThrow(
      "in/a.yaml + in/b.yaml (clients[2].prefix_length): the prefix of 'p'",
    );
  });

  it('merges targets of goodput that agree', () => {
    const a = specOf([client('a')], { goodput_slo_targets: { x: { ttft_ms: 1, e2e_ms: 2 } } });
    const b = specOf([client('b')], { goodput_slo_targets: { x: { e2e_ms: 2, ttft_ms: 1 }, y: { itl_ms: 3 } } });
    expect(Object.keys(composeSpecs(parts(a, b)).spec.goodput_slo_targets!)).toEqual(['x', 'y']);
    const c = specOf([client('b')], { goodput_slo_targets: { x: { ttft_ms: 2 } } });
    expect(() => composeSpecs(parts(a, c))).toThrow(
      'in/b.yaml (goodput_slo_targets.x): the targets of this class differ',
    );
  });

  it('refuses specifications that cannot be combined', () => {
    const a = specOf([client('a')]);
    const windows = [{ start_us: 0, end_us: 5, trace_rate: 4 }];
    const absolute = specOf([client('b', { lifecycle: { windows } })], { aggregate_rate: 0 });
    expect(() => composeSpecs(parts(a, absolute))).toThrow('in/b.yaml (aggregate_rate): has none');
    expect(() => composeSpecs(parts(a, specOf([client('b', { slo_class: 'batch' })])))).toThrow(
      '(clients[0].slo_class): is missing',
    );
    const shared_prefix = {
      ...{ num_unique_system_prompts: 1, num_users_per_system_prompt: 1, system_prompt_len: 1 },
      ...{ question_len: 1, output_len: 1 },
    };
    const perf: WorkloadSpec = { version: '2', inference_perf: { stages: [{ rate: 1, duration: 1 }], shared_prefix } };
    expect(() => composeSpecs(parts(a, perf))).toThrow('in/b.yaml (inference_perf): cannot be combined with clients');
  });
});
