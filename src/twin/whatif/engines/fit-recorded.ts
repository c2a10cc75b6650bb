import { InputError } from '../../../kernel/errors.js';
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
/** Replicas whose step times differ by less are of one kind. */
const ALIKE = 0.1;
/** Of a time without requests: no step was in it. */
const LONGEST_PAUSE_US = 10_000_000;

export interface RecordedProfile {
  profile: LatencyProfile;
  notes: string[];
}

/**
 * Fits step times to what the replicas of a recording took, starting at the data sheets of their model and GPU.
 * @param speeds of unlike replicas: those as fast as most are fitted
 */
export function fitRecorded(
  fleet: RecordedFleet,
  replica: ReplicaModelConfig,
  tried: (tries: number) => void,
  speeds: readonly number[] | null = null,
): RecordedProfile {
  const isAlike = alikeOf(speeds);
  const traces = enginesOf(fleet, replica, MOST_REQUESTS)
    .filter((_, i) => isAlike(i))
    .filter((trace) => responses(trace) >= LEAST_REQUESTS)
    .sort((a, b) => responses(b) - responses(a))
    .slice(0, MOST_ENGINES);
  if (traces.length === 0) throw tooFewToFit(fleet.file, LEAST_REQUESTS);
  for (const trace of traces) shortenPauses(trace);
  const { hardware, model, tp } = replica;
  const start = startOf(fleet.file, replica);
  const { profile, report } = fitOf(fleet.file, () =>
    fitProfile({ traces }, { name: 'fitted to the recording', model, hardware, tp, start }, (_, tries) => tried(tries)),
  );
  // Few requests of an engine widen the error of step times; the profile is judged by the whole recording.
  return { profile, notes: report.notes.filter((note) => !note.startsWith('Too few requests at the end')) };
}

/** Whether a replica is as fast as most. */
function alikeOf(speeds: readonly number[] | null): (replica: number) => boolean {
  if (speeds === null) return () => true;
  const near = (one: number) => speeds.filter((other) => Math.abs(other / one - 1) < ALIKE).length;
  const usual = speeds.reduce((best, one) => (near(one) > near(best) ? one : best));
  return (replica) => Math.abs(speeds[replica]! / usual - 1) < ALIKE;
}

/** A replica may have enough requests, and too few of them before the end that the fit is judged by. */
function fitOf<Fitted>(file: string, fit: () => Fitted): Fitted {
  try {
    return fit();
  } catch (error) {
    throw error instanceof InputError && error.code === 'FIT_TOO_FEW_REQUESTS'
      ? tooFewToFit(file, LEAST_REQUESTS)
      : error;
  }
}

/** The fit divides by time: a night without requests, or a clock that was set, would leave one side without any. */
export function shortenPauses({ e2eUs, table }: ObservedTrace): void {
  let endUs = Number.POSITIVE_INFINITY;
  let cutUs = 0;
  for (let row = 0; row < table.count; row++) {
    const arrivalUs = table.arrivalUs[row]!;
    const pauseUs = arrivalUs - endUs;
    if (pauseUs > LONGEST_PAUSE_US) cutUs += pauseUs - LONGEST_PAUSE_US;
    const ownEndUs = arrivalUs + (e2eUs[row] || 0);
    endUs = row === 0 ? ownEndUs : Math.max(endUs, ownEndUs);
    table.arrivalUs[row] = arrivalUs - cutUs;
  }
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
