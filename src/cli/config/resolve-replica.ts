import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../replica/catalogue/kv-capacity.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { servingDefaults } from '../../replica/catalogue/serving-defaults.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import { latencyModel } from '../../replica/latency/registry.js';
import { PREEMPTION_POLICIES } from '../../replica/preemption/registry.js';
import type { ReplicaConfig } from '../../replica/replica-config.js';
import { SCHEDULERS } from '../../replica/scheduling/registry.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import { badChoice, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';

export interface ResolvedReplica {
  config: ReplicaConfig;
  latency: LatencyModel;
}

/** Everything a replica is made of; checked here, so that nothing is left to go wrong in the simulation. */
export function resolveReplica(
  flags: FlagValues<InstanceFlags>,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
): ResolvedReplica {
  const { values } = flags;
  const name = requiredModel(values.model);
  const modelConfigFolder = values['model-config-folder'] ?? undefined;
  const hardwareConfig = values['hardware-config'] ?? undefined;
  const model = loadModel(name, { modelConfigFolder });
  const { hardware, tp } = placement(name, values.hardware, values.tp);
  const gpu = loadGpu(hardware, { hardwareConfig });
  const dp = values.dp;
  const alpha = values['alpha-coeffs'];
  const beta = values['beta-coeffs'];
  const moeCommBackend = values['moe-comm-backend'];
  if (flags.given('moe-comm-backend') && model.experts === 0) {
    diagnostics.warn(`--moe-comm-backend has no effect: ${name} is not a mixture of experts`);
  }
  const latency = latencyModel(values['latency-model']).create(
    {
      model,
      gpu,
      parallelism: { tp, dp, moeCommBackend },
      ...(alpha === null ? {} : { alpha }),
      ...(beta === null ? {} : { beta }),
    },
    diagnostics.warn,
  );

  const blockSize = values['block-size-in-tokens'];
  const gpuMemoryUtilization = values['gpu-memory-utilization'];
  const totalKvBlocks =
    values['total-kv-blocks'] ?? derivedKvBlocks(model, gpu, { tp, dp, blockSize, gpuMemoryUtilization });
  const config: ReplicaConfig = {
    model: name,
    hardware: gpu.name,
    tp,
    dp,
    moeCommBackend,
    latencyModel: values['latency-model'],
    alphaCoeffs: alpha,
    betaCoeffs: beta,
    totalKvBlocks,
    blockSize,
    gpuMemoryUtilization,
    maxModelLen: derivedMaxModelLen(model, values['max-model-len'] ?? undefined, totalKvBlocks, blockSize),
    maxNumSeqs: values['max-num-seqs'],
    maxNumBatchedTokens: values['max-num-batched-tokens'],
    longPrefillTokenThreshold: values['long-prefill-token-threshold'],
    scheduler: flags.given('scheduler')
      ? values.scheduler
      : nameInBundle(bundle, 'scheduler', bundle?.scheduler, SCHEDULERS, values.scheduler),
    preemptionPolicy: flags.given('preemption-policy')
      ? values['preemption-policy']
      : nameInBundle(
          bundle,
          'preemption.policy',
          bundle?.preemption.policy,
          PREEMPTION_POLICIES,
          values['preemption-policy'],
        ),
    ...(modelConfigFolder === undefined ? {} : { modelConfigFolder }),
    ...(hardwareConfig === undefined ? {} : { hardwareConfig }),
  };
  const longest = `requests of up to ${config.maxModelLen} tokens`;
  diagnostics.info(`${name} on ${gpu.name}, tp ${tp}: ${totalKvBlocks} KV blocks of ${blockSize} tokens, ${longest}`);
  return { config, latency };
}

function requiredModel(given: string | null): string {
  if (given !== null) return given.toLowerCase();
  throw missingFlag('--model', 'is required', 'name the model that is served, as in --model qwen/qwen3-14b');
}

function placement(model: string, hardware: string | null, tp: number | null): { hardware: string; tp: number } {
  const usual = servingDefaults(model);
  const missing = hardware === null ? '--hardware' : '--tp';
  if (usual === undefined && (hardware === null || tp === null)) {
    throw missingFlag(missing, `is required: no usual GPUs are known for '${model}'`, 'as in --hardware H100 --tp 1');
  }
  return { hardware: hardware ?? usual!.hardware, tp: tp ?? usual!.tp };
}

/** What the bundle says, checked, or the default when it says nothing. */
function nameInBundle(
  bundle: PolicyBundle | null,
  path: string,
  given: string | undefined,
  registry: readonly { name: string }[],
  standard: string,
): string {
  if (bundle === null || given === undefined) return standard;
  const known = registry.map(({ name }) => name);
  if (!known.includes(given)) throw badChoice(bundle.place(path), given, known);
  return given;
}
