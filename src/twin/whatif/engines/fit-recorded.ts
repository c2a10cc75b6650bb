import { fitProfile } from '../../../observe/fit/fit-profile.js';
import type { ObservedTrace } from '../../../observe/fit/traces/observed-trace.js';
import type { LatencyProfile } from '../../../replica/latency/profile.js';
import { replicaFiles } from '../../../replica/replica-files.js';
import type { ReplicaModelConfig } from '../../../replica/replica-model-config.js';
import { tooFewToFit, unknownStart } from '../errors.js';
import { enginesOf, type RecordedFleet } from '../recorded-fleet.js';

/** More requests of an engine, and more engines, would not change the profile. */
const MOST_REQUESTS = 1500;
const MOST_ENGINES = 4;
const LEAST_REQUESTS = 55;

export interface RecordedProfile {
  profile: LatencyProfile;
  notes: string[];
}

/** Fits step times to what the replicas of a recording took, starting at the data sheets of their model and GPU. */
export function fitRecorded(
  fleet: RecordedFleet,
  replica: ReplicaModelConfig,
  tried: (tries: number) => void,
): RecordedProfile {
  const traces = enginesOf(fleet, replica, MOST_REQUESTS)
    .filter((trace) => responses(trace) >= LEAST_REQUESTS)
    .sort((a, b) => responses(b) - responses(a))
    .slice(0, MOST_ENGINES);
  if (traces.length === 0) throw tooFewToFit(fleet.file, LEAST_REQUESTS);
  const { hardware, model, tp } = replica;
  const { profile, report } = fitProfile(
    { traces },
    { name: 'fitted to the recording', model, hardware, tp, start: startOf(fleet.file, replica) },
    (_, tries) => tried(tries),
  );
  // Few requests of an engine widen the error of step times; the profile is judged by the whole recording.
  return { profile, notes: report.notes.filter((note) => !note.startsWith('Too few requests at the end')) };
}

function startOf(file: string, replica: ReplicaModelConfig): ReturnType<typeof replicaFiles> {
  try {
    return replicaFiles(replica);
  } catch (error) {
    throw unknownStart(file, (error as Error).message);
  }
}

function responses({ ttftUs }: ObservedTrace): number {
  return ttftUs.reduce((count, us) => count + (us > 0 ? 1 : 0), 0);
}
