import { describe, expect, it } from 'vitest';
import { REPLICA, recordingOf, served } from '../whatif/recorded-run.fixture.js';
import { recordingFiles } from '../whatif/recording-files.fixture.js';
import type { WhatIfProgress, WhatIfQuestion } from '../whatif/whatif-question.js';
import { adviceTable } from './advice-table.js';
import { adviceVerdict } from './advice-verdict.js';
import { advise } from './advise.js';
import type { SwitchCost } from './switch-cost.js';

const file = recordingFiles();
const ROUND_ROBIN = { policy: 'round-robin', options: {} };
const LMETRIC = { policy: 'lmetric', options: { tie_break: 'random', block_size: 16 } };

function questionOf(recording: string): WhatIfQuestion {
  return {
    ...{ recording, replica: REPLICA, gateway: { signalsUs: 1_000_000, blockSize: 16 }, runs: 5 },
    alternatives: [{ routing: ROUND_ROBIN }],
  };
}

describe('advise', () => {
  it('advises the policy with the greatest certain gain, its interval, and what the switch costs', async () => {
    const recording = file('round-robin.jsonl', recordingOf(served({ requests: 500 }, { routing: ROUND_ROBIN })));
    const stages = new Set<string>();
    const watch = ({ stage }: WhatIfProgress) => void stages.add(stage);
    const policies = ['least-loaded', 'lmetric', 'round-robin'];
    const document = await advise(
      questionOf(recording),
      { present: ROUND_ROBIN, metric: 'ttft_mean_ms', policies },
      watch,
    );
    const { alternatives, best, cost, verdict } = document;
    expect(alternatives.map(({ name }) => name)).toEqual(['lmetric', 'least-loaded']);
    expect(best).toMatchObject({ policy: 'lmetric', routing: { policy: 'lmetric', options: {} } });
    expect(best!.changeHigh).toBeLessThan(0);
    expect(best!.changeLow).toBeLessThanOrEqual(best!.change);
    expect(verdict).toMatch(
      /^Switch from round-robin to lmetric: TTFT mean .* ms instead of .* ms \(-.* %, between -.*\)\. /,
    );
    expect(cost!.windows.length).toBeGreaterThan(5);
    // With the caches that round-robin left, lmetric is never faster than with its own from the start, but for chance.
    const mean = (of: 'switched' | 'warm' | 'present') =>
      cost!.windows.reduce((sum, one) => sum + one[of], 0) / cost!.windows.length;
    expect(mean('switched')).toBeGreaterThan(mean('warm') * 0.97);
    expect(mean('switched')).toBeLessThan(mean('present'));
    expect([...stages]).toEqual(['reading', 'checking', 'simulating']);
  });

  it('keeps the policy in force where none is better for certain', async () => {
    const recording = file('lmetric.jsonl', recordingOf(served({ requests: 400 }, { routing: LMETRIC })));
    const request = { present: LMETRIC, metric: 'ttft_mean_ms', policies: ['round-robin'] } as const;
    const { best, cost, verdict } = await advise(questionOf(recording), request, () => {});
    expect([best, cost]).toEqual([null, null]);
    expect(verdict).toBe('Keep lmetric: no other policy gives a better TTFT mean for certain.');
  });

  const asked = async (recording: string, policies = ['lmetric']) =>
    advise(questionOf(recording), { present: ROUND_ROBIN, metric: 'ttft_mean_ms', policies }, () => {});

  it('keeps the policy of one replica, and of no other policies, without a simulation of them', async () => {
    const one = served({ requests: 250, rate: 8 }, { routing: ROUND_ROBIN, instances: 1 });
    const alone = await asked(file('alone.jsonl', recordingOf(one)), ['lmetric', 'unified']);
    expect([alone.best, alone.alternatives]).toEqual([null, []]);
    expect(alone.verdict).toBe('Keep round-robin: there is one replica, which every policy chooses.');
    const text = adviceTable(alone, { colour: false });
    expect(text).toMatch(/^round-robin +[\d.]+ +in force$/m);
    expect(text).not.toContain('Intervals');
    const same = await asked(file('same.jsonl', recordingOf(served({ requests: 250 }, { routing: ROUND_ROBIN }))), [
      'round-robin',
    ]);
    expect(same.verdict).toBe('Keep round-robin: no other policy was to be compared.');
  });

  it('advises by the requests that were served where others were refused', async () => {
    const lines = recordingOf(served({ requests: 500 }, { routing: ROUND_ROBIN }))
      .trim()
      .split('\n');
    const refused = { replica: null, dispatch_us: null, first_token_us: null, output_tokens: null, status: 429 };
    const mixed = lines.map((line, i) =>
      i % 10 === 9 ? JSON.stringify({ ...JSON.parse(line), ...refused, outcome: 'rejected' }) : line,
    );
    const { best, recording } = await asked(file('refused.jsonl', `${mixed.join('\n')}\n`));
    expect([recording.requests, recording.responses, best?.policy]).toEqual([500, 450, 'lmetric']);
  });

  it.each([
    ['no requests', 0, 'WHATIF_NO_REQUESTS'],
    ['five requests', 5, 'WHATIF_TOO_FEW'],
  ])('refuses a recording with %s', async (_, requests, code) => {
    const lines = recordingOf(served({ requests: 5 }, { routing: ROUND_ROBIN }));
    await expect(asked(file(`few-${requests}.jsonl`, requests === 0 ? '' : lines))).rejects.toMatchObject({ code });
  });
});

describe('adviceVerdict', () => {
  const best = {
    policy: 'lmetric',
    routing: LMETRIC,
    was: 100,
    predicted: 60,
    change: -0.4,
    changeLow: -0.5,
    changeHigh: -0.3,
  };
  const cost = {
    windowS: 60,
    windows: [{ present: 9, switched: 8, warm: 7 }],
    warmAfterS: 0,
    extraTtftMs: 0,
    worst: -0.1,
  };

  it('says what the switch costs and for how long', () => {
    const said = (change: Partial<SwitchCost>) =>
      adviceVerdict('sticky', best, { ...cost, ...change }, null, 'ttft_p90_ms');
    expect(said({})).toBe(
      'Switch from sticky to lmetric: TTFT p90 60 ms instead of 100 ms (-40.0 %, between -50.0 % and -30.0 %). The switch costs nothing that can be seen: caches are warm at once.',
    );
    expect(said({ warmAfterS: 300, extraTtftMs: 12, worst: 0.2 })).toContain(
      'After the switch TTFT is 12 ms above that of warm caches for 5 minutes, at worst 20 % above that of the present policy.',
    );
    expect(said({ warmAfterS: null, extraTtftMs: 3 })).toContain('until the recording ends, and never above');
    expect(adviceVerdict('sticky', best, null, null, 'ttft_p90_ms')).toContain('is not known');
  });

  it('advises nothing where the recording cannot be simulated', () => {
    expect(adviceVerdict('sticky', null, null, 'the fleet was saturated', 'ttft_p90_ms')).toBe(
      'Nothing can be advised: the fleet was saturated.',
    );
  });
});
