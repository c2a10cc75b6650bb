import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../src/replica/catalogue/kv-capacity.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import { gpuFamily } from '../../src/replica/latency/physics/gpu-family.js';
import { latencyModel } from '../../src/replica/latency/registry.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { RequestTable } from '../../src/workload/request-table.js';

/** qwen3-14b on H100s behind the given policy, as in the golden case perf-10k, with the rules that come with the latency model. */
export function cluster(
  instances: number,
  policy: string,
  latencyName = 'trained-physics',
): { config: ClusterConfig; latency: LatencyModel } {
  const model = loadModel('qwen/qwen3-14b');
  const gpu = loadGpu('H100');
  const parallelism = { tp: 1, dp: 1, moeCommBackend: 'allgather_reducescatter' };
  const blockSize = 16;
  const gpuMemoryUtilization = 0.9;
  const totalKvBlocks = derivedKvBlocks(model, gpu, { tp: 1, dp: 1, blockSize, gpuMemoryUtilization });
  const config: ClusterConfig = {
    instances,
    seed: 42,
    horizonUs: null,
    replica: {
      model: model.name,
      hardware: gpu.name,
      ...parallelism,
      latencyModel: latencyName,
      ...(latencyName === 'physics' ? { engineRules: gpuFamily(gpu.name).engineRules } : {}),
      alphaCoeffs: null,
      betaCoeffs: null,
      totalKvBlocks,
      blockSize,
      gpuMemoryUtilization,
      maxModelLen: derivedMaxModelLen(model, undefined, totalKvBlocks, blockSize),
      maxNumSeqs: 256,
      maxNumBatchedTokens: 2048,
      longPrefillTokenThreshold: 0,
      scheduler: 'fcfs',
      preemptionPolicy: 'fcfs',
    },
    admission: { policy: 'always-admit', options: {} },
    tenantBudgets: {},
    sloPriorities: {},
    admissionLatencyUs: 0,
    flowControl: null,
    routing: { policy, options: {} },
    routingLatencyUs: 0,
    snapshotRefreshUs: 0,
    cacheSignalDelayUs: 0,
    traceLevel: 'none',
    counterfactualK: 0,
    summarizeTrace: false,
    fitnessWeights: {},
    goodputTargets: {},
  };
  return { config, latency: latencyModel(latencyName).create({ model, gpu, parallelism }, () => {}) };
}

/**
 * More traffic of the same kind: `wide` copies of every request at the same moment (for that many times the instances),
 * the whole repeated `long` times one after the other.
 */
export function multiply(base: RequestTable, wide: number, long: number): RequestTable {
  const table = new RequestTable(base.count * wide * long);
  base.prefixGroups.names().forEach((name, group) => {
    table.prefixTokens[table.prefixGroups.index(name)] = base.prefixTokens[group]!;
  });
  const spanUs = base.arrivalUs[base.count - 1]! + 1000;
  for (let repeat = 0; repeat < long; repeat++) {
    for (let from = 0; from < base.count; from++) {
      for (let copy = 0; copy < wide; copy++) {
        const row = table.append();
        table.arrivalUs[row] = repeat * spanUs + base.arrivalUs[from]! + copy;
        table.inputTokens[row] = base.inputTokens[from]!;
        table.outputTokens[row] = base.outputTokens[from]!;
        table.prefixGroup[row] = base.prefixGroup[from]!;
      }
    }
  }
  return table;
}
