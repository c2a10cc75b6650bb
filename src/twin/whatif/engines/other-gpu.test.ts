import { describe, expect, it } from 'vitest';
import { mean } from '../../../kernel/percentile.js';
import type { BatchShape } from '../../../replica/latency/contract.js';
import { gpuFamily } from '../../../replica/latency/physics/gpu-family.js';
import { replicaLatency } from '../../../replica/replica-latency.js';
import { REPLICA, recordingOf, served } from '../recorded-run.fixture.js';
import { recordingFiles } from '../recording-files.fixture.js';
import { whatIf } from '../whatif.js';
import { onOtherGpu, otherGpuLatency, sheetError } from './other-gpu.js';

const file = recordingFiles();
const { latencyProfile: _, ...ENGINE } = REPLICA;
const sheet = (hardware: string) =>
  replicaLatency({ ...ENGINE, hardware, latencyModel: 'physics', latencyFamily: gpuFamily(hardware) });
const DECODES: BatchShape = {
  ...{ scheduled: 20, decodes: 20, decodeContext: 20_000, prefills: 0, prefillTokens: 0, prefillContext: 0 },
  ...{ prefillFullAttention: 0, prefillCausalAttention: 0, prefillPairs: 0, prefillLongest: 0 },
  ...{ decodeLongest: 1000, heldTokens: 20_000 },
};

describe('the recorded engine on another GPU', () => {
  it('keeps its settings, and the share of the memory that it had', () => {
    const H100 = onOtherGpu(REPLICA, 'h100', '--gpu');
    expect(H100).toEqual(REPLICA);
    const H200 = onOtherGpu(REPLICA, 'h200', '--gpu');
    expect(H200).toEqual({ ...REPLICA, hardware: 'H200', totalKvBlocks: H200.totalKvBlocks });
    // More memory, of which the weights take no more.
    expect(H200.totalKvBlocks / REPLICA.totalKvBlocks).toBeGreaterThan(141 / 80);
  });

  it('takes for each step what it took, times what data sheets say of that step on both', () => {
    const recorded = replicaLatency(REPLICA);
    const H200 = onOtherGpu(REPLICA, 'H200', '--gpu');
    const other = otherGpuLatency(REPLICA, recorded, H200);
    const ratio = sheet('H200').stepUs(DECODES) / sheet('H100').stepUs(DECODES);
    expect(ratio).toBeLessThan(0.9);
    expect(other.stepUs(DECODES) / recorded.stepUs(DECODES)).toBeCloseTo(ratio, 3);
    expect(other.queueingUs).toBe(recorded.queueingUs);
  });

  it('is predicted within the interval', async () => {
    const routing = { policy: 'round-robin', options: {} };
    const recording = file('h100.jsonl', recordingOf(served({}, { routing })));
    const replica = onOtherGpu(REPLICA, 'H200', '--gpu');
    const latency = otherGpuLatency(REPLICA, replicaLatency(REPLICA), replica);
    const { outcomes } = served({}, { routing, seed: 7 }, { replica, latency });
    const question = { recording, replica: REPLICA, gateway: { signalsUs: 1_000_000, blockSize: 16 }, runs: 5 };
    const { alternatives } = await whatIf({ ...question, alternatives: [{ routing, gpu: 'h200' }] });
    expect(alternatives[0]).toMatchObject({ name: 'round-robin (H200)', hardware: 'H200', refused: null });
    const e2e = alternatives[0]!.metrics.find(({ metric }) => metric === 'e2e_mean_ms')!;
    const measured = mean(outcomes.e2eUs) / 1000;
    expect(measured).toBeLessThan(0.9 * e2e.was);
    expect([measured > e2e.low, measured < e2e.high]).toEqual([true, true]);
    // Data sheets say less than a recording.
    expect((e2e.high - e2e.low) / e2e.predicted).toBeGreaterThan(2 * sheetError(replica));
  });

  it('is known as well as data sheets say', () => {
    expect(sheetError({ ...REPLICA, hardware: 'H200' })).toBe(gpuFamily('H200').expected.itl / 100);
  });

  it('is refused for a model that is not in the catalogue', () => {
    expect(() => onOtherGpu({ ...REPLICA, model: 'own/model' }, 'H200', 'body (gpu)')).toThrow(
      "body (gpu): 'own/model' is not in the catalogue; step times carry over to another GPU by data sheets",
    );
  });
});
