import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../replica/catalogue/kv-capacity.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { servingDefaults } from '../../replica/catalogue/serving-defaults.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import { latencyModel } from '../../replica/latency/registry.js';
import { PREEMPTION_POLICIES } from '../../replica/preemption/registry.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { SCHEDULERS } from '../../replica/scheduling/registry.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import { badChoice, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import { checkProfile, engineSettings } from './profile-settings.js';

export interface ResolvedReplica {
  config: ReplicaModelConfig;
  latency: LatencyModel;
}

/**
 * The settings of a replica, checked here so that the simulation cannot fail on them. A profile sets
 * what no flag sets; where it sets everything, its model and its GPU need not be in the catalogue.
 */
export function resolveReplica(
  flags: FlagValues<InstanceFlags>,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
  profile: LatencyProfile | null = null,
): ResolvedReplica {
  const { values } = flags;
  if (profile !== null) checkProfile(flags, profile, diagnostics);
  const name = requiredModel(values.model ?? profile?.model ?? null);
  const modelConfigFolder = values['model-config-folder'] ?? undefined;
  const hardwareConfig = values['hardware-config'] ?? undefined;
  const settings = engineSettings(flags, profile?.scheduler ?? {});
  const { blockSize } = settings;
  const saysAll = profile !== null && settings.totalKvBlocks !== null && settings.maxModelLen !== null;
  const model = saysAll ? null : loadModel(name, { modelConfigFolder });
  const { hardware, tp } = placement(
    name,
    values.hardware ?? profile?.hardware ?? null,
    values.tp ?? profile?.tp ?? null,
  );
  const gpu = saysAll ? null : loadGpu(hardware, { hardwareConfig });
  const dp = values.dp;
  const alpha = values['alpha-coeffs'];
  const beta = values['beta-coeffs'];
  const moeCommBackend = values['moe-comm-backend'];
  if (flags.given('moe-comm-backend') && model?.experts === 0) {
    diagnostics.warn(`--moe-comm-backend has no effect: ${name} is not a mixture of experts`);
  }
  const latency =
    profile !== null
      ? profileLatency(profile)
      : latencyModel(values['latency-model']).create(
          {
            model: model!,
            gpu: gpu!,
            parallelism: { tp, dp, moeCommBackend },
            ...(alpha === null ? {} : { alpha }),
            ...(beta === null ? {} : { beta }),
          },
          diagnostics.warn,
        );

  const gpuMemoryUtilization = values['gpu-memory-utilization'];
  const totalKvBlocks =
    settings.totalKvBlocks ?? derivedKvBlocks(model!, gpu!, { tp, dp, blockSize, gpuMemoryUtilization });
  const gpuName = gpu?.name ?? hardware;
  const config: ReplicaModelConfig = {
    model: name,
    hardware: gpuName,
    tp,
    dp,
    moeCommBackend,
    latencyModel: profile === null ? values['latency-model'] : 'profile',
    alphaCoeffs: alpha,
    betaCoeffs: beta,
    totalKvBlocks,
    blockSize,
    gpuMemoryUtilization,
    maxModelLen: derivedMaxModelLen(
      model ?? { maxContext: 0 },
      settings.maxModelLen ?? undefined,
      totalKvBlocks,
      blockSize,
    ),
    maxNumSeqs: settings.maxNumSeqs,
    maxNumBatchedTokens: settings.maxNumBatchedTokens,
    longPrefillTokenThreshold: settings.longPrefillTokenThreshold,
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
    ...(settings.engineRules === 'classic' ? {} : { engineRules: settings.engineRules }),
    ...(profile === null ? {} : { latencyProfile: profile }),
    ...(modelConfigFolder === undefined ? {} : { modelConfigFolder }),
    ...(hardwareConfig === undefined ? {} : { hardwareConfig }),
  };
  const longest = `requests of up to ${config.maxModelLen} tokens`;
  diagnostics.info(`${name} on ${gpuName}, tp ${tp}: ${totalKvBlocks} KV blocks of ${blockSize} tokens, ${longest}`);
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

/** The checked value of the policy file, or the default. */
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
