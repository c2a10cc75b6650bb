import type { WorkloadRecipe } from '../../experiment/recipes/workload-recipe.js';
import { InputError } from '../../kernel/errors.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { resolveVariant } from '../compare/resolve-variant.js';
import { mergeSettings, type Setting, type Settings } from '../compare/settings.js';
import type { Diagnostics } from '../diagnostics.js';
import { badChoice } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { FleetKind } from '../flags/read-list.js';
import { gpuNames, routingPolicyNames } from '../flags/registered-names.js';
import type { PlanFlags } from './plan-flags.js';

/** A kind of replica to plan with, or why there is none. */
export type ResolvedCandidate =
  | { named: CandidateName; config: ClusterConfig; workload: WorkloadRecipe }
  | { named: CandidateName; refused: string };

interface CandidateName {
  /** Null: what is usual for the model. */
  gpu: string | null;
  tp: number | null;
  policy: string;
}

/** The reasons that concern one kind of replica and not the others. */
const OF_ONE_KIND = ['MODEL_DOES_NOT_FIT', 'UNEVEN_TP'];

/**
 * Every GPU type with every tensor parallelism and policy, or the fleet that is given with every policy. What does not fit is refused with its arithmetic; it is an
 * error only where nothing fits.
 */
export async function resolveCandidates(
  flags: FlagValues<PlanFlags>,
  given: Settings,
  diagnostics: Diagnostics,
): Promise<ResolvedCandidate[]> {
  const { fleet, gpu, tp, 'routing-policy': policies } = flags.values;
  const known = await routingPolicyNames();
  const unknown = policies?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw badChoice('--routing-policy', unknown, known);
  await checkGpus(gpu, given);
  const names = (policies ?? [null]).flatMap((policy) =>
    (gpu ?? [null]).flatMap((oneGpu) => (tp ?? [null]).map((oneTp) => ({ gpu: oneGpu, tp: oneTp, policy }))),
  );
  const errors: InputError[] = [];
  const resolved: ResolvedCandidate[] = [];
  for (const { policy, ...kind } of names) {
    const named = { ...kind, policy: policy ?? 'round-robin' };
    try {
      const { config, workload } = await resolveVariant(
        {
          ...{ name: '', against: null, isolates: '', series: '', x: null, source: '' },
          settings: mergeSettings(given, ownSettings(kind.gpu, kind.tp, policy, fleet)),
        },
        diagnostics,
      );
      resolved.push({ named: { ...named, policy: config.routing.policy }, config, workload });
    } catch (error) {
      if (!(error instanceof InputError) || !OF_ONE_KIND.includes(error.code)) throw error;
      errors.push(error);
      resolved.push({ named, refused: error.problem });
    }
  }
  if (errors.length === resolved.length) throw errors[0]!;
  return resolved;
}

/** The error of an unknown GPU names the flag of this command. */
async function checkGpus(gpus: readonly string[] | null, given: Settings): Promise<void> {
  if (given.has('hardware-config') || given.has('latency-profile')) return;
  const known = await gpuNames();
  const unknown = gpus?.find((name) => !known.some((one) => one.toLowerCase() === name.toLowerCase()));
  if (unknown !== undefined) throw badChoice('--gpu', unknown, known);
}

function ownSettings(
  gpu: string | null,
  tp: number | null,
  policy: string | null,
  fleet: readonly FleetKind[] | null,
): Settings {
  const settings = new Map<string, Setting>();
  if (gpu !== null) settings.set('hardware', { text: gpu, place: '--gpu' });
  if (tp !== null) settings.set('tp', { text: String(tp), place: '--tp' });
  if (fleet !== null) {
    settings.set('fleet', { text: fleet.map(({ count, text }) => `${count}*${text}`).join(','), place: '--fleet' });
  }
  if (policy !== null) settings.set('routing-policy', { text: policy, place: '--routing-policy' });
  return settings;
}
