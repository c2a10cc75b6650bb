/** Names that other layers register. Each is loaded on use: help and checks need them, start-up does not. */
type Names = () => Promise<readonly string[]>;

function namesOf(load: () => Promise<readonly { name: string }[]>): Names {
  return async () => (await load()).map((entry) => entry.name);
}

export const routingPolicyNames = namesOf(async () => (await import('../../policy/registry.js')).ROUTING_POLICIES);
export const admissionPolicyNames = namesOf(async () => (await import('../../policy/registry.js')).ADMISSION_POLICIES);
export const saturationDetectorNames = namesOf(
  async () => (await import('../../policy/queueing/saturation.js')).SATURATION_DETECTORS,
);
export const dispatchOrderNames = namesOf(
  async () => (await import('../../policy/queueing/dispatch-orders.js')).DISPATCH_ORDERS,
);
export const fairnessPolicyNames = namesOf(
  async () => (await import('../../policy/queueing/fairness-policies.js')).FAIRNESS_POLICIES,
);
export const latencyModelNames = namesOf(
  async () => (await import('../../replica/latency/registry.js')).LATENCY_MODELS,
);
export const moeCommBackendNames = namesOf(
  async () => (await import('../../replica/latency/moe-comm.js')).MOE_COMM_BACKENDS,
);
export const schedulerNames = namesOf(async () => (await import('../../replica/scheduling/registry.js')).SCHEDULERS);
export const preemptionPolicyNames = namesOf(
  async () => (await import('../../replica/preemption/registry.js')).PREEMPTION_POLICIES,
);
export const engineRuleNames = namesOf(async () => (await import('../../replica/engine-rules.js')).ENGINE_RULES);
export const presetNames = namesOf(async () => (await import('../../experiment/presets/registry.js')).PRESETS);
export const engineNames = namesOf(async () => (await import('../../engines/registry.js')).MEASURED_ENGINES);
export const scorerNames = namesOf(async () => (await import('../../policy/scoring/registry.js')).SCORERS);
/** By folder, and with the organisation where the catalogue has it. */
export const modelNames: Names = async () => {
  const [{ bundledModels }, { knownModels }] = await Promise.all([
    import('../../replica/catalogue/model-catalogue.js'),
    import('../../replica/catalogue/serving-defaults.js'),
  ]);
  const bundled = bundledModels();
  return [...bundled, ...knownModels().filter((name) => bundled.includes(name.slice(name.indexOf('/') + 1)))];
};
export const gpuNames: Names = async () => (await import('../../replica/catalogue/gpu-catalogue.js')).bundledGpus();
