import { InputError } from '../../../kernel/errors.js';
import type { ClusterConfig, FleetGroup } from '../../../simulator/cluster-config.js';
import type { PolicyBundle } from '../../../simulator/policy-bundle.js';
import type { Diagnostics } from '../../diagnostics.js';
import { conflictingFlags } from '../../errors.js';
import type { ClusterFlags } from '../../flags/cluster-flags.js';
import type { FlagValues } from '../../flags/flag.js';
import type { InstanceFlags } from '../../flags/instance-flags.js';
import type { FleetKind } from '../../flags/read-list.js';
import { refuseGiven } from '../flag-conflicts.js';
import { givenProfile } from '../profile-settings.js';
import { type ResolvedReplica, resolveReplica } from '../resolve-replica.js';

type FleetFlags = FlagValues<ClusterFlags & InstanceFlags>;

/** The replicas of a cluster, and the latency model of `replica`. */
export type ResolvedFleet = Pick<ClusterConfig, 'fleet' | 'instances' | 'replica'> & Pick<ResolvedReplica, 'latency'>;

/** Replicas that are all alike, or those of `--fleet`: flags of an instance hold for all of them. */
export async function resolveFleet(
  flags: FleetFlags,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
): Promise<ResolvedFleet> {
  const { values } = flags;
  if (values.fleet === null) {
    const { config, latency } = resolveReplica(flags, bundle, diagnostics, await givenProfile(flags));
    return { instances: values['num-instances'], replica: config, latency };
  }
  checkFleetFlags(flags, values.fleet);
  const kinds: (ResolvedReplica & Pick<FleetKind, 'count' | 'text'>)[] = [];
  for (const { count, text, ...kind } of values.fleet) {
    kinds.push({ count, text, ...(await resolveKind(flags, kind, bundle, diagnostics)) });
  }
  checkAlike(kinds);
  const fleet = kinds.map(({ config, count }): FleetGroup => ({ count, replica: config }));
  const instances = fleet.reduce((sum, { count }) => sum + count, 0);
  return { instances, replica: kinds[0]!.config, latency: kinds[0]!.latency, fleet };
}

function checkFleetFlags(flags: FleetFlags, kinds: readonly FleetKind[]): void {
  const hint = 'leave it out: --fleet names the replicas';
  refuseGiven(flags, ['num-instances', 'hardware', 'tp', 'latency-profile'], 'is given with --fleet', hint);
  refuseGiven(
    flags,
    ['hardware-config', 'model-config-folder', 'interval' as never],
    'is given with --fleet',
    'leave one of them out',
  );
  if (kinds.some(({ profile }) => profile !== null)) {
    refuseGiven(flags, ['latency-model'], '--fleet has latency profiles', 'leave it out');
  }
}

async function resolveKind(
  flags: FleetFlags,
  { gpu, profile, tp }: Pick<FleetKind, 'gpu' | 'profile' | 'tp'>,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
): Promise<ResolvedReplica> {
  const own: FleetFlags = {
    ...flags,
    values: { ...flags.values, hardware: gpu, tp, 'latency-profile': profile },
    given: (name) => flags.given(name),
  };
  try {
    return resolveReplica(own, bundle, diagnostics, await givenProfile(own));
  } catch (error) {
    if (!(error instanceof InputError) || !['--hardware', '--tp'].includes(error.place)) throw error;
    throw new InputError(error.code, '--fleet', error.problem, error.hint);
  }
}

/** The router counts prompts in one block size, and all replicas serve one model. */
function checkAlike(kinds: readonly (ResolvedReplica & { readonly text: string })[]): void {
  const [first] = kinds;
  for (const { config, latency, text } of kinds) {
    const other = (what: string, one: number | string, two: number | string) =>
      conflictingFlags(
        '--fleet',
        `${first!.text} and ${text} have different ${what}: ${one} and ${two}`,
        'make them alike',
      );
    if (config.model !== first!.config.model) throw other('models', first!.config.model, config.model);
    if (config.blockSize !== first!.config.blockSize)
      throw other('block sizes', first!.config.blockSize, config.blockSize);
    if (latency.outputTokenUs !== first!.latency.outputTokenUs)
      throw other('times per token outside of steps', first!.latency.outputTokenUs, latency.outputTokenUs);
  }
}
