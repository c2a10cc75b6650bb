import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import type { ResultDocument } from '../../simulator/result-document.js';
import { captured as twinyard } from '../test-io.fixture.js';

const RUN = 'run --model qwen/qwen3-14b --num-requests 20 --rate 20';
let folder: string;

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function result(args: string): Promise<ResultDocument> {
  const ended = await twinyard(args);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('--policy-config', () => {
  it('chooses policies; flags win over it', async () => {
    const path = file(
      'policies.yaml',
      `admission: {policy: tier-shed, tier_shed_threshold: 3, slo_priorities: {gold: 9}}
routing: {policy: weighted, scorers: [{name: queue-depth, weight: 2}, {name: kv-utilization, weight: 1}], options: {tie_break: random}}
scheduler: sjf
preemption: {policy: priority}
tenant_budgets: {t1: 0.5}
`,
    );
    const { config } = await result(`${RUN} --policy-config ${path}`);
    expect(config).toMatchObject({
      admission: { policy: 'tier-shed', options: { threshold: 3, min_priority: 3 } },
      routing: { policy: 'weighted', options: { scorers: 'queue-depth:2,kv-utilization:1', tie_break: 'random' } },
      replica: { scheduler: 'sjf', preemptionPolicy: 'priority' },
      tenantBudgets: { t1: 0.5 },
      sloPriorities: { gold: 9 },
    });
    const flags = `--admission-policy token-bucket --routing-policy least-loaded --scheduler fcfs --preemption-policy fcfs`;
    expect((await result(`${RUN} --policy-config ${path} ${flags}`)).config).toMatchObject({
      admission: { policy: 'token-bucket', options: { capacity: 10000, refill_rate: 1000 } },
      routing: { policy: 'least-loaded', options: { tie_break: 'first' } },
      replica: { scheduler: 'fcfs', preemptionPolicy: 'fcfs' },
    });
  });

  it('protects the standard class with tier-shed from a bundle, not from a flag', async () => {
    const path = file('tier.yaml', 'admission: {policy: tier-shed}\n');
    const byBundle = await result(`${RUN} --policy-config ${path}`);
    expect(byBundle.config.admission.options).toEqual({ threshold: 0, min_priority: 3 });
    const byFlag = await result(`${RUN} --admission-policy tier-shed`);
    expect(byFlag.config.admission.options).toEqual({ threshold: 0, min_priority: 0 });
  });

  it('gives the targets of slo-deadline', async () => {
    const path = file('targets.yaml', 'admission: {slo_targets: {critical: 5000}}\n');
    const flow = '--flow-control --dispatch-order slo-deadline';
    const { config } = await result(`${RUN} --policy-config ${path} ${flow}`);
    expect(config.flowControl!.sloTargetsUs).toEqual({ critical: 5000 });
    expect((await twinyard(`${RUN} --policy-config ${path}`)).stderr).toContain(
      '(admission.slo_targets): has no effect',
    );
  });

  it('has a queue with a section flow_control, as a live gateway has; flags take precedence', async () => {
    const path = file('flow.yaml', 'flow_control: {max_concurrency: 3, request_ttl_ms: 250, queue_shedding: true}\n');
    expect((await result(`${RUN} --policy-config ${path} --log error`)).config.flowControl).toEqual({
      ...flowControlOf({}, {}),
      maxConcurrency: 3,
      requestTtlUs: 250_000,
      queueShedding: true,
    });
    const flags =
      '--flow-control --saturation-detector utilization --request-ttl 7 --dispatch-tick-interval 500 --log error';
    expect((await result(`${RUN} --policy-config ${path} ${flags}`)).config.flowControl).toEqual({
      ...flowControlOf({}, {}),
      saturationDetector: 'utilization',
      maxConcurrency: 3,
      requestTtlUs: 7,
      dispatchTickUs: 500,
      queueShedding: true,
    });
  });

  it.each([
    [
      'routing: {policy: wieghted}',
      "bad.yaml:1:19 (routing.policy): unknown routing policy 'wieghted'; did you mean 'weighted'?",
    ],
    ['admission: {policy: nobody}', 'bad.yaml:1:21 (admission.policy): unknown admission policy'],
    ['scheduler: sfj', "bad.yaml:1:12 (scheduler): 'sfj' is not known; did you mean 'sjf'?"],
    ['preemption: {policy: x}', 'bad.yaml:1:22 (preemption.policy)'],
    [
      'routing: {scorers: [{name: queue-depth, weight: 1}]}',
      '(routing.scorers): has no effect with the routing policy round-robin',
    ],
    ['routing: {policy: weighted, scorers: [{name: que-depth, weight: 1}]}', "did you mean 'queue-depth'?"],
    ['routing: {policy: weighted, scorers: [{name: queue-depth, weight: 0}]}', '(routing.scorers)'],
    [
      'routing: {policy: least-loaded, options: {tie_brake: first}}',
      "has no option 'tie_brake'; did you mean 'tie_break'?",
    ],
    [
      'admission: {policy: token-bucket, token_bucket_capacity: -1}',
      'bad.yaml:1:58 (admission.token_bucket_capacity): -1 is too small; give a number above 0',
    ],
    [
      'admission: {token_bucket_capacity: 5}',
      "(admission.token_bucket_capacity): the admission policy is always-admit; write 'policy: token-bucket', or leave it out",
    ],
    ['admission: {policy: tier-shed, gaie_qd_threshold: 5}', '(admission.gaie_qd_threshold): the admission policy is'],
    ['routing: {policy: weighted, scorers: [{name: queue-depth}]}', '(routing.scorers[0].weight): is missing'],
    ['autoscaler: {}', "'autoscaler' is not supported"],
  ])('refuses %s', async (text, message) => {
    const path = file('bad.yaml', `${text}\n`);
    const { code, stdout, stderr } = await twinyard(`${RUN} --policy-config ${path}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^twinyard: [^\n]+\n$/);
  });
});
