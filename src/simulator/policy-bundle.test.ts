import { describe, expect, it } from 'vitest';
import { parsePolicyBundle, readPolicyBundle } from './policy-bundle.js';

const FULL = `
admission:
  policy: tier-shed
  tier_shed_threshold: 12
  slo_priorities: {gold: 10, batch: -5}
  slo_targets:
    critical: 100000
routing:
  policy: weighted
  scorers:
    - {name: queue-depth, weight: 2}
    - name: kv-utilization
      weight: 1.5
  options: {tie_break: random}
scheduler: sjf
preemption:
  policy: priority
tenant_budgets:
  t1: 0.25
`;

describe('parsePolicyBundle', () => {
  it('reads every section', async () => {
    const bundle = await parsePolicyBundle(FULL, 'p.yaml');
    expect(bundle).toMatchObject({
      admission: {
        policy: 'tier-shed',
        tier_shed_threshold: 12,
        slo_priorities: { gold: 10, batch: -5 },
        slo_targets: { critical: 100000 },
      },
      routing: {
        policy: 'weighted',
        scorers: [
          { name: 'queue-depth', weight: 2 },
          { name: 'kv-utilization', weight: 1.5 },
        ],
        options: { tie_break: 'random' },
      },
      scheduler: 'sjf',
      preemption: { policy: 'priority' },
      tenant_budgets: { t1: 0.25 },
      warnings: [],
    });
  });

  it('knows the places of keys', async () => {
    const bundle = await parsePolicyBundle(FULL, 'p.yaml');
    expect(bundle.place('admission.policy')).toBe('p.yaml:3:11 (admission.policy)');
    expect(bundle.place('routing.scorers')).toBe('p.yaml:10:3 (routing.scorers)');
    expect(bundle.place('nowhere')).toBe('p.yaml:1:1 (nowhere)');
  });

  it('treats absent sections as not given', async () => {
    const bundle = await parsePolicyBundle('scheduler: fcfs\n', 'p.yaml');
    expect(bundle).toMatchObject({ admission: {}, routing: {}, preemption: {}, tenant_budgets: {} });
  });

  it('follows anchors', async () => {
    const text =
      'admission: {slo_priorities: &p {a: 1}, slo_targets: {a: 5}}\ntenant_budgets: {x: &half 0.5, y: *half}\n';
    expect((await parsePolicyBundle(text, 'p.yaml')).tenant_budgets).toEqual({ x: 0.5, y: 0.5 });
  });

  it('warns that the priority section has no effect', async () => {
    const { warnings } = await parsePolicyBundle('priority: {policy: slo-based}\n', 'p.yaml');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("p.yaml:1:1 (priority): the 'priority' section has no effect");
  });

  it('warns of keys that only a gateway uses', async () => {
    const text = 'routing: {block_size: 32, cache_blocks: 5}\nmax_num_seqs: 8\n';
    expect((await parsePolicyBundle(text, 'p.yaml')).warnings).toEqual([
      'p.yaml:1:23 (routing.block_size): has no effect in a simulation: blocks are those of the replicas (--block-size-in-tokens)',
      'p.yaml:1:41 (routing.cache_blocks): has no effect in a simulation',
      'p.yaml:2:15 (max_num_seqs): has no effect in a simulation: give --max-num-seqs',
    ]);
  });

  it.each([
    ['', 'BUNDLE_EMPTY', 'p.yaml: holds no keys'],
    ['- a\n', 'BUNDLE_BAD_VALUE', 'p.yaml:1:1: is not a map'],
    ['a: [1\n', 'BUNDLE_MALFORMED', 'p.yaml:'],
    ['scheduler: a\nscheduler: b\n', 'BUNDLE_MALFORMED', 'p.yaml:2:1'],
    [
      'admision: {}\n',
      'BUNDLE_UNKNOWN_KEY',
      "p.yaml:1:1 (admision): unknown key 'admision'; did you mean 'admission'?",
    ],
    [
      'admission:\n  polcy: x\n',
      'BUNDLE_UNKNOWN_KEY',
      "p.yaml:2:3 (admission.polcy): unknown key 'polcy'; did you mean 'policy'?",
    ],
    [
      'routing:\n  scorers:\n    - {name: a, wight: 1}\n',
      'BUNDLE_UNKNOWN_KEY',
      "p.yaml:3:17 (routing.scorers[0].wight): unknown key 'wight'; did you mean 'weight'?",
    ],
    ['routing: {scorers: queue-depth}\n', 'BUNDLE_BAD_VALUE', 'p.yaml:1:20 (routing.scorers): is not a list'],
    ['routing:\n  scorers:\n    - name: a\n', 'BUNDLE_BAD_VALUE', 'p.yaml:3:7 (routing.scorers[0].weight): is missing'],
    ['routing: {scorers: [{weight: 1}]}\n', 'BUNDLE_BAD_VALUE', '(routing.scorers[0].name): is missing'],
    ['scheduler: a\n---\nscheduler: b\n', 'BUNDLE_MALFORMED', 'p.yaml:2:1: a second YAML document starts here'],
    ['routing: {options: 3}\n', 'BUNDLE_BAD_VALUE', 'p.yaml:1:20 (routing.options): is not a map'],
    ['scheduler: [a]\n', 'BUNDLE_BAD_VALUE', 'p.yaml:1:1 (scheduler): is not a single value'],
    ['admission: always-admit\n', 'BUNDLE_BAD_VALUE', 'p.yaml:1:12 (admission): is not a map'],
    [
      'admission: {token_bucket_capacity: much}\n',
      'BUNDLE_BAD_VALUE',
      "(admission.token_bucket_capacity): 'much' is not a number",
    ],
    [
      'admission: {slo_priorities: {a: 101}}\n',
      'BUNDLE_BAD_VALUE',
      '101 is too large; give a whole number from -100 to 100',
    ],
    ['admission: {slo_priorities: {a: 1.5}}\n', 'BUNDLE_BAD_VALUE', '1.5 is not a whole number'],
    ['admission: {slo_targets: {a: 0}}\n', 'BUNDLE_BAD_VALUE', '(admission.slo_targets.a): 0 is too small'],
    ['tenant_budgets: {a: 1.2}\n', 'BUNDLE_BAD_VALUE', '1.2 is too large; give a number from 0 to 1'],
    ['tenant_budgets: {a: .nan}\n', 'BUNDLE_BAD_VALUE', 'is not a number'],
    ['autoscaler: {interval_us: 5}\n', 'BUNDLE_UNSUPPORTED', "p.yaml:1:1 (autoscaler): 'autoscaler' is not supported"],
    ['node_pools: []\n', 'BUNDLE_UNSUPPORTED', "'node_pools' is not supported"],
    ['instance_lifecycle: {}\n', 'BUNDLE_UNSUPPORTED', "'instance_lifecycle' is not supported"],
  ])('refuses %j', async (text, code, message) => {
    const error = await parsePolicyBundle(text, 'p.yaml').catch((caught) => caught);
    expect(error).toMatchObject({ name: 'InputError', code });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('\n');
  });
});

describe('readPolicyBundle', () => {
  it('names a missing file', async () => {
    await expect(readPolicyBundle('no/such.yaml')).rejects.toMatchObject({
      code: 'BUNDLE_UNREADABLE',
      place: 'no/such.yaml',
      problem: 'no such file',
    });
  });
});
