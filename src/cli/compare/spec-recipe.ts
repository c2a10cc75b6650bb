import type { WorkloadRecipe } from '../../experiment/recipes/workload-recipe.js';
import type { GoodputTarget } from '../../simulator/cluster-config.js';
import { distributionSpec } from '../../workload/generate/distribution-spec.js';
import { isLengthPreset } from '../../workload/generate/presets.js';
import { readyMade, specFile, specTargets } from '../config/generate-from-spec.js';
import { distributionWorkload, type GeneratorFlags } from '../config/generate-run-workload.js';

/** The workload that `run` would generate from these flags, as a recipe, and what it says is good. */
export async function specRecipe(
  flags: GeneratorFlags,
): Promise<{ recipe: WorkloadRecipe; goodputTargets: Record<string, GoodputTarget> }> {
  const { values, given } = flags;
  const path = values['workload-spec'];
  if (path === null && isLengthPreset(values.workload)) {
    const spec = distributionSpec(distributionWorkload(flags));
    return { recipe: { kind: 'spec', spec, options: {} }, goodputTargets: {} };
  }
  const spec = path === null ? readyMade(flags) : await specFile(flags, path);
  const { timeout, horizon } = values;
  const options = {
    ...(given('num-requests') ? { numRequests: values['num-requests'] } : {}),
    ...(horizon === null ? {} : { horizonUs: horizon }),
    ...(given('timeout') ? { timeoutUs: timeout > 0 ? Math.trunc(timeout * 1e6) : 0 } : {}),
  };
  return { recipe: { kind: 'spec', spec, options }, goodputTargets: specTargets(spec) };
}
