import { describe, expect, it } from 'vitest';
import { PROFILE, REPLICA, recordingOf, served } from './recorded-run.fixture.js';
import { recordingFiles } from './recording-files.fixture.js';
import { whatIf } from './whatif.js';
import type { WhatIfQuestion } from './whatif-question.js';

const file = recordingFiles();
const ROUND_ROBIN = { policy: 'round-robin', options: {} };
const run = served({ requests: 300 }, { routing: ROUND_ROBIN });
const QUESTION: WhatIfQuestion = {
  recording: file('traffic.jsonl', recordingOf(run)),
  replica: REPLICA,
  gateway: { signalsUs: 1_000_000, blockSize: 16 },
  alternatives: [{ routing: { policy: 'lmetric', options: {} } }],
  runs: 5,
};
const verdictOf = async (changes: Partial<WhatIfQuestion>) => {
  const { alternatives, verdict } = await whatIf({ ...QUESTION, ...changes });
  expect(alternatives[0]!.refused).not.toBeNull();
  return verdict;
};

describe('whatIf claims nothing', () => {
  it('where the recording does not show what caches held', async () => {
    const recording = file('no-blocks.jsonl', recordingOf(run, { blocks: [], cached_tokens: 1100 }));
    expect(await verdictOf({ recording })).toMatch(
      /^No difference can be claimed for lmetric: the recording does not show what caches held: no blocks were recorded, and simulated caches find \d+ points less/,
    );
  });

  it('where the profile is of other engines', async () => {
    const { step } = PROFILE;
    const slow = { ...step, decodeOnly: step.decodeOnly.map(({ tokens, us }) => ({ tokens, us: 2 * us })) };
    const replica = { ...REPLICA, latencyProfile: { ...PROFILE, step: slow } };
    expect(await verdictOf({ replica })).toContain(
      'the profile does not describe these engines: simulated as recorded, E2E is +',
    );
  });

  it('where the fleet would not keep up', async () => {
    const recording = file('busy.jsonl', recordingOf(served({ requests: 900, rate: 150 }, { routing: ROUND_ROBIN })));
    const alternatives = [{ routing: ROUND_ROBIN, replicas: 1 }];
    expect(await verdictOf({ recording, alternatives })).toMatch(
      /^No difference can be claimed for round-robin on 1 replica: this fleet would not keep up with the traffic: /,
    );
  });

  it('where the policy decides by text, which is not recorded', async () => {
    const chwbl = (options: object) => [{ routing: { policy: 'chwbl', options: { ...options } } }];
    expect(await verdictOf({ alternatives: chwbl({}) })).toContain(
      'No difference can be claimed for chwbl: it decides by the text of prompts, which is never recorded',
    );
    const { alternatives } = await whatIf({ ...QUESTION, alternatives: chwbl({ key: 'prefix-blocks' }) });
    expect(alternatives[0]!.refused).toBeNull();
  });

  it('where the recorded fleet did not keep up', async () => {
    const recording = file(
      'saturated.jsonl',
      recordingOf(served({ requests: 900, rate: 600 }, { routing: ROUND_ROBIN })),
    );
    expect(await verdictOf({ recording })).toContain('the recorded fleet was saturated: its backlog grew');
  });
});

describe('a recording', () => {
  it('of requests that overlap within a session arrives as recorded', async () => {
    const recording = file('one-user.jsonl', recordingOf(run, { session: 'user' }));
    expect((await whatIf({ ...QUESTION, recording })).recording.sessions).toBe('fixed');
  });

  it('of sessions whose turns keep to a schedule has them arrive when they were recorded', async () => {
    // Session s has requests s, s + 30, s + 60, ...: a second apart, each half a second long.
    const lines = recordingOf(run).trim().split('\n');
    const turns = lines.map((line, i) => JSON.stringify({ ...JSON.parse(line), session: `s${i % 30}` }));
    const recording = file('chats.jsonl', `${turns.join('\n')}\n`);
    const { alternatives, recording: facts } = await whatIf({ ...QUESTION, recording });
    expect([facts.sessions, alternatives[0]!.refused]).toEqual(['scheduled', null]);
  });

  it('may be asked about its last part only, which finds caches as the requests before it left them', async () => {
    const { baseline, recording } = await whatIf({ ...QUESTION, lastUs: 7_000_000 });
    expect(recording.requests).toBeLessThan(300);
    expect(recording.requests + recording.warmUp).toBe(300);
    expect(recording.durationS).toBeLessThanOrEqual(7);
    for (const { error } of baseline.metrics) expect(Math.abs(error)).toBeLessThan(0.02);
    await expect(whatIf({ ...QUESTION, lastUs: 1_000_000 })).rejects.toMatchObject({ code: 'WHATIF_TOO_FEW' });
  });
});
