import { describe, expect, it } from 'vitest';
import { profileLatency } from '../../../replica/latency/profile-latency.js';
import { readRecordedFleet } from '../recorded-fleet.js';
import { PROFILE, REPLICA, recordingOf, served } from '../recorded-run.fixture.js';
import { recordingFiles } from '../recording-files.fixture.js';
import { whatIf } from '../whatif.js';
import type { WhatIfQuestion } from '../whatif-question.js';
import { replicaSpeeds } from './replica-speeds.js';

const file = recordingFiles();
const ROUND_ROBIN = { policy: 'round-robin', options: {} };
const LMETRIC = { policy: 'lmetric', options: { tie_break: 'random', block_size: 16 } };
const QUESTION: Omit<WhatIfQuestion, 'recording'> = {
  replica: REPLICA,
  gateway: { signalsUs: 1_000_000, blockSize: 16 },
  alternatives: [{ routing: { policy: 'lmetric', options: {} } }],
  runs: 3,
};
const TRAFFIC = { requests: 300, rate: 20 };
/** Two replicas take 2.5 times as long for a step. */
const slowFactors = [1, 2.5, 1, 2.5];

describe('replicas of different speed', () => {
  const recording = file('unlike.jsonl', recordingOf(served(TRAFFIC, { routing: ROUND_ROBIN, slowFactors })));

  it('are known by the time between their tokens', async () => {
    const fleet = await readRecordedFleet({ ...QUESTION, recording });
    const speeds = replicaSpeeds(fleet, REPLICA, profileLatency(PROFILE))!;
    const named = fleet.trace.observed.served.replicas.map((name, i) => [name, Number(speeds[i]!.toFixed(1))]);
    expect(Object.fromEntries(named)).toEqual({ 'replica-0': 1, 'replica-1': 2.5, 'replica-2': 1, 'replica-3': 2.5 });
  });

  it('keep their speed under another policy', async () => {
    const { alternatives, baseline } = await whatIf({ ...QUESTION, recording });
    expect(baseline.profile.notes.join()).toContain('Replicas differ in speed');
    const errorOf = (wanted: string) => baseline.metrics.find(({ metric }) => metric === wanted)!.error;
    for (const metric of ['ttft_mean_ms', 'e2e_mean_ms']) expect(Math.abs(errorOf(metric))).toBeLessThan(0.03);
    const { outcomes } = served(TRAFFIC, { routing: LMETRIC, slowFactors, seed: 7 });
    const e2e = alternatives[0]!.metrics.find(({ metric }) => metric === 'e2e_mean_ms')!;
    const measured = outcomes.e2eUs.reduce((sum, us) => sum + us, 0) / outcomes.e2eUs.length / 1000;
    expect([measured > e2e.low, measured < e2e.high]).toEqual([true, true]);
  });

  it('are not found among replicas that are alike', async () => {
    const alike = file('alike.jsonl', recordingOf(served(TRAFFIC, { routing: LMETRIC })));
    const fleet = await readRecordedFleet({ ...QUESTION, recording: alike });
    expect(replicaSpeeds(fleet, REPLICA, profileLatency(PROFILE))).toBeNull();
  });
});
