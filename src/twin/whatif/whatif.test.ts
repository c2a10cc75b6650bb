import { describe, expect, it } from 'vitest';
import { ROUTING_POLICIES } from '../../policy/registry.js';
import { metricsOfResponses, type WhatIfMetric } from './recorded-metrics.js';
import { REPLICA, recordingOf, served } from './recorded-run.fixture.js';
import { recordingFiles } from './recording-files.fixture.js';
import { whatIf } from './whatif.js';
import type { WhatIfProgress, WhatIfQuestion } from './whatif-question.js';

const file = recordingFiles();
const ROUND_ROBIN = { policy: 'round-robin', options: {} };
const LMETRIC = { policy: 'lmetric', options: { tie_break: 'random', block_size: 16 } };
const TRAFFIC = { requests: 600, prefixes: 40 };
const recording = file('traffic.jsonl', recordingOf(served(TRAFFIC, { routing: ROUND_ROBIN })));
const QUESTION: WhatIfQuestion = {
  recording,
  replica: REPLICA,
  gateway: { signalsUs: 1_000_000, blockSize: 16 },
  alternatives: [{ routing: { policy: 'lmetric', options: {} } }],
  runs: 7,
};

/** What a run of the same traffic would have measured. */
function truth(changes: Parameters<typeof served>[1]) {
  const { outcomes, table } = served(TRAFFIC, changes);
  const rows = Array.from({ length: table.count }, (_, row) => row);
  const of = (column: ArrayLike<number>) => rows.map((row) => column[row]!);
  return metricsOfResponses(
    { ttftUs: of(outcomes.ttftUs), e2eUs: of(outcomes.e2eUs), outputTokens: of(outcomes.producedTokens) },
    Number.NaN,
  );
}

function expectInside(
  { metrics }: { metrics: { metric: WhatIfMetric; low: number; high: number }[] },
  measured: Record<WhatIfMetric, number>,
) {
  for (const { high, low, metric } of metrics) {
    expect([metric, measured[metric] >= low && measured[metric] <= high]).toEqual([metric, true]);
  }
}

describe('whatIf', () => {
  it('predicts another policy within its interval, and says what changes', async () => {
    const { alternatives, baseline, verdict } = await whatIf(QUESTION);
    expect(baseline.refused).toBeNull();
    for (const { error } of baseline.metrics) expect(Math.abs(error)).toBeLessThan(0.01);
    const [lmetric] = alternatives;
    expectInside(lmetric!, truth({ routing: LMETRIC, seed: 7 }));
    expect(lmetric!.metrics[0]).toMatchObject({ metric: 'ttft_mean_ms', claim: 'better' });
    expect(verdict).toMatch(/^lmetric would have given TTFT mean .* ms instead of .* ms \(-.* %, between /);
  });

  it('predicts another number of replicas', async () => {
    const alternatives = [{ routing: ROUND_ROBIN, replicas: 3 }];
    const [three] = (await whatIf({ ...QUESTION, alternatives })).alternatives;
    expect(three).toMatchObject({ name: 'round-robin on 3 replicas', replicas: 3 });
    expectInside(three!, truth({ routing: ROUND_ROBIN, instances: 3, seed: 7 }));
  });

  it('can be asked of every policy', async () => {
    const alternatives = ROUTING_POLICIES.map(({ name }) => ({ routing: { policy: name, options: {} } }));
    const answered = await whatIf({ ...QUESTION, alternatives, runs: 3 });
    expect(answered.alternatives.map(({ metrics }) => metrics.length)).toEqual(alternatives.map(() => 7));
  });

  it('claims no difference between a policy and itself', async () => {
    const { verdict, alternatives } = await whatIf({ ...QUESTION, alternatives: [{ routing: ROUND_ROBIN }] });
    expect(alternatives[0]!.metrics.map(({ claim }) => claim)).toEqual(Array(7).fill('none'));
    expect(verdict).toMatch(/^No difference can be claimed for round-robin: TTFT mean would change by /);
  });

  it('reports its progress, and can be cancelled between two runs', async () => {
    const stages: string[] = [];
    const control = new AbortController();
    const onProgress = ({ done, stage }: WhatIfProgress) => {
      if (stages.at(-1) !== stage) stages.push(stage);
      if (done === 3) control.abort();
    };
    await expect(whatIf(QUESTION, { signal: control.signal, onProgress })).rejects.toMatchObject({
      code: 'WHATIF_CANCELLED',
    });
    expect(stages).toEqual(['reading', 'checking', 'simulating']);
    await expect(whatIf(QUESTION, { signal: control.signal })).rejects.toMatchObject({ code: 'WHATIF_CANCELLED' });
  });
});
