import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../replica/catalogue/kv-capacity.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { servingDefaults } from '../../replica/catalogue/serving-defaults.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import { withQueueing } from '../../replica/latency/contract.js';
import { gpuFamily } from '../../replica/latency/physics/gpu-family.js';
import { physics } from '../../replica/latency/physics/physics.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import { latencyModel } from '../../replica/latency/registry.js';
import { trainedPhysics } from '../../replica/latency/trained/trained-physics.js';
import { PREEMPTION_POLICIES } from '../../replica/preemption/registry.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { SCHEDULERS } from '../../replica/scheduling/registry.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import { badChoice, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import { profileMemory, UNKNOWN_KV_BLOCKS } from './profile-memory.js';
import { checkProfile, engineSettings, saysMemory } from './profile-settings.js';

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
  const modelName = profile === null ? stepTimesBy(flags) : 'profile';
  const measured = profile?.scheduler ?? {};
  const saysAll = profile !== null && saysMemory(flags, measured);
  const model = profile !== null ? null : loadModel(name, { modelConfigFolder });
  const { hardware, tp } = placement(
    name,
    values.hardware ?? profile?.hardware ?? null,
    values.tp ?? profile?.tp ?? null,
  );
  const gpu = profile !== null ? null : loadGpu(hardware, { hardwareConfig });
  const memory = profile === null || saysAll ? null : profileMemory(flags, profile, { model: name, hardware });
  const sized = profile === null ? { model: model!, gpu: gpu! } : memory;
  const family = modelName === physics.name ? gpuFamily(gpu!.name) : undefined;
  const settings = engineSettings(flags, family === undefined ? measured : { engineRules: family.engineRules });
  const { blockSize } = settings;
  const dp = values.dp;
  const queueingUs = values['queueing-latency'];
  const alpha = values['alpha-coeffs'];
  const beta = values['beta-coeffs'];
  const moeCommBackend = values['moe-comm-backend'];
  if (flags.given('moe-comm-backend') && model?.experts === 0) {
    diagnostics.warn(`--moe-comm-backend has no effect: ${name} is not a mixture of experts`);
  }
  const latency =
    profile !== null
      ? profileLatency(profile)
      : latencyModel(modelName).create(
          {
            model: model!,
            gpu: gpu!,
            parallelism: { tp, dp, moeCommBackend },
            ...(alpha === null ? {} : { alpha }),
            ...(beta === null ? {} : { beta }),
            ...(family === undefined ? {} : { family }),
          },
          diagnostics.warn,
        );

  const gpuMemoryUtilization = values['gpu-memory-utilization'];
  if (profile !== null && !saysAll && sized === null && settings.totalKvBlocks === null) {
    const problem = `neither the profile '${profile.name}' nor the catalogue says how large the KV cache is`;
    diagnostics.warn(`${problem}: ${UNKNOWN_KV_BLOCKS} blocks are simulated; give --total-kv-blocks`);
  }
  const totalKvBlocks =
    settings.totalKvBlocks ??
    (sized === null
      ? UNKNOWN_KV_BLOCKS
      : derivedKvBlocks(sized.model, sized.gpu, { tp, dp, blockSize, gpuMemoryUtilization }));
  const gpuName = sized?.gpu.name ?? hardware;
  const config: ReplicaModelConfig = {
    model: name,
    hardware: gpuName,
    tp,
    dp,
    moeCommBackend,
    latencyModel: modelName,
    alphaCoeffs: alpha,
    betaCoeffs: beta,
    totalKvBlocks,
    blockSize,
    gpuMemoryUtilization,
    maxModelLen: derivedMaxModelLen(
      sized?.model ?? { maxContext: 0 },
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
    ...(family === undefined ? {} : { latencyFamily: family }),
    ...(queueingUs === null ? {} : { queueingUs }),
    ...(modelConfigFolder === undefined ? {} : { modelConfigFolder }),
    ...(hardwareConfig === undefined ? {} : { hardwareConfig }),
  };
  const longest = `requests of up to ${config.maxModelLen} tokens`;
  diagnostics.info(`${name} on ${gpuName}, tp ${tp}: ${totalKvBlocks} KV blocks of ${blockSize} tokens, ${longest}`);
  return { config, latency: withQueueing(latency, config) };
}

/** The latency model: the given one; coefficients are those of the model that has them. */
function stepTimesBy(flags: FlagValues<InstanceFlags>): string {
  return flags.given('beta-coeffs') && !flags.given('latency-model')
    ? trainedPhysics.name
    : flags.values['latency-model'];
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
