import type { RunnerOptions, RunnerType } from '../runner-type.js';
import { isOtherRay } from './ray-settings.js';

export const rayType = {
  name: 'ray',
  summary: 'jobs of a Ray cluster',
  builtInCluster: null,
  runsHere: false,
  isElsewhere: isOtherRay,
  async open({ cluster, folder, mayAct, onFault, scrub, settings }: RunnerOptions) {
    const { RayRunner } = await import('./ray-runner.js');
    return RayRunner.open({ cluster, folder, settings, scrub, onFault, mayAct });
  },
} as const satisfies RunnerType;
