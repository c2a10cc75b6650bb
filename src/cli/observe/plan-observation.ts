import type { ObservePlan } from '../../observe/drive/observation.js';
import { sloPriorities } from '../../policy/slo-classes.js';
import type { Diagnostics } from '../diagnostics.js';
import { type GivenObserveFlags, generatorFlags } from './check-observe-flags.js';
import { sentTrace } from './observe-paths.js';

/** The requests that `run` would generate, or `replay` would read, from the same flags. */
export async function planObservation(flags: GivenObserveFlags, diagnostics: Diagnostics): Promise<ObservePlan> {
  const { values } = flags;
  const priorities = sloPriorities();
  const urgency = (sloClass: string) => priorities.maxPriority - priorities.priorityOf(sloClass);
  const common = { horizonUs: values.horizon, urgency };
  const paths = sentTrace(flags);
  if (paths !== null) {
    const { readReplayWorkload } = await import('../config/read-replay-workload.js');
    const { header, workload } = await readReplayWorkload(flags, paths, diagnostics);
    const { goodputTargets, workloadSeed } = header;
    return {
      ...common,
      workload,
      workloadSpec: paths.data.path,
      goodputTargets,
      ...(workloadSeed === undefined ? {} : { workloadSeed }),
    };
  }
  const { generateRunWorkload } = await import('../config/generate-run-workload.js');
  const generator = generatorFlags(flags);
  // A trace of an observation does record growing contexts.
  const quiet = { ...generator, values: { ...generator.values, 'trace-output': null } };
  const { facts, traceFacts, workload } = await generateRunWorkload(quiet, {}, diagnostics);
  const { goodputTargets, workloadSeed, workloadSpec } = traceFacts;
  const expected = workload.sessions === undefined ? undefined : facts.numRequests;
  return {
    ...common,
    workload,
    ...(typeof expected === 'number' ? { expected } : {}),
    ...(workloadSeed === undefined ? {} : { workloadSeed }),
    ...(workloadSpec === undefined ? {} : { workloadSpec }),
    ...(goodputTargets === undefined ? {} : { goodputTargets }),
  };
}
