import { InputError } from '../../kernel/errors.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { WhatIfQuestion } from '../../twin/whatif/whatif-question.js';
import { givenProfile } from '../config/profile-settings.js';
import { resolveReplica } from '../config/resolve-replica.js';
import { type Diagnostics, SILENT } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import { askedFleets, checkAsked } from './asked-fleets.js';
import { type FetchedRecording, fetchRecording } from './fetch-recording.js';
import type { WhatIfFlags } from './whatif-flags.js';

const SIGNALS_US = 1_000_000;
const BLOCK_SIZE = 16;

/** A question, and what has to be removed when it is answered. */
export interface OpenQuestion {
  question: WhatIfQuestion;
  close(): void;
}

/** The question of the flags; with --gateway, of what that gateway recorded and how it is configured. */
export async function openQuestion(
  flags: FlagValues<WhatIfFlags>,
  io: CliIo,
  diagnostics: Diagnostics,
): Promise<OpenQuestion> {
  const { values } = flags;
  const given = await givenProfile(flags);
  if (values.gateway === null) {
    const replica = resolveReplica(flags, null, diagnostics, given).config;
    return { question: questionOf(flags, null, replica, diagnostics), close: () => {} };
  }
  // Flags are checked before anything is fetched.
  checkAsked(flags);
  if (isDescribed(flags) && (given !== null || flags.given('model'))) resolveReplica(flags, null, SILENT, given);
  const fetched = await fetchRecording(flags, values.gateway, io);
  try {
    const replica = servedReplica(flags, fetched, given, diagnostics);
    return { question: questionOf(flags, fetched, replica, diagnostics), close: () => fetched.close() };
  } catch (error) {
    fetched.close();
    throw error;
  }
}

const DESCRIBES = [
  'model',
  'hardware',
  'tp',
  'latency-profile',
  'latency-model',
  'alpha-coeffs',
  'beta-coeffs',
] as const;

function isDescribed(flags: FlagValues<WhatIfFlags>): boolean {
  return DESCRIBES.some((flag) => flags.given(flag));
}

/** The engines as flags describe them, else by the current profile of the endpoint, else by the model that it serves. */
function servedReplica(
  flags: FlagValues<WhatIfFlags>,
  { endpoint, engines }: FetchedRecording,
  given: LatencyProfile | null,
  diagnostics: Diagnostics,
): ReplicaModelConfig {
  const { model, profile, profiles } = engines;
  if (isDescribed(flags)) {
    const named = { ...flags, values: { ...flags.values, model: flags.values.model ?? given?.model ?? model } };
    return resolveReplica(named, null, diagnostics, given).config;
  }
  if (profiles > 1) {
    const problem = `the replicas of ${endpoint} have ${profiles} latency profiles`;
    const rule = 'that of most of them is simulated, and others as much slower or faster as the recording shows';
    diagnostics.warn(`${flags.values.gateway}: ${problem}: ${rule}`);
  }
  if (profile !== null) return resolveReplica(flags, null, diagnostics, profile).config;
  const why = `has no latency profile of ${endpoint} yet`;
  const hint = 'name the model and the GPU of its engines (--model, --hardware, --tp), or give --latency-profile';
  if (model === null) throw conflictingFlags('--gateway', `${why}, and it serves no model`, hint);
  try {
    return resolveReplica({ ...flags, values: { ...flags.values, model } }, null, diagnostics).config;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw conflictingFlags('--gateway', `${why}, and step times cannot be fitted: ${error.problem}`, hint);
  }
}

function questionOf(
  flags: FlagValues<WhatIfFlags>,
  fetched: FetchedRecording | null,
  replica: ReplicaModelConfig,
  diagnostics: Diagnostics,
): WhatIfQuestion {
  const { values } = flags;
  const endpoint = fetched?.endpoint ?? values.endpoint;
  const lastUs = fetched?.lastUs ?? values.last;
  return {
    recording: fetched?.file ?? values.recording!,
    ...(fetched === null ? {} : { recordingName: `${values.gateway} (${fetched.endpoint})` }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(values['trace-model'] === null ? {} : { model: values['trace-model'] }),
    ...(lastUs === null ? {} : { lastUs }),
    replica,
    gateway: {
      signalsUs: values['signals-interval'] ?? fetched?.gateway.signalsUs ?? SIGNALS_US,
      blockSize: values['router-block-size'] ?? fetched?.gateway.blockSize ?? BLOCK_SIZE,
    },
    alternatives: askedFleets(flags, replica, fetched?.served ?? null, diagnostics),
    ...(values.runs === null ? {} : { runs: values.runs }),
  };
}
