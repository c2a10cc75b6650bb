import type { WhatIfQuestion } from '../../twin/whatif/whatif-question.js';
import { givenProfile } from '../config/profile-settings.js';
import { resolveReplica } from '../config/resolve-replica.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import { askedFleets } from './asked-fleets.js';
import { fetchRecording } from './fetch-recording.js';
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
  const profile = await givenProfile(flags);
  const { config: replica } = resolveReplica(flags, null, diagnostics, profile);
  // What flags ask for is checked before anything is fetched; the policy of a gateway is known only then.
  if (values.gateway === null) askedFleets(flags, null, diagnostics);
  const fetched = values.gateway === null ? null : await fetchRecording(flags, values.gateway, io);
  const lastUs = values.last ?? undefined;
  try {
    const endpoint = fetched?.endpoint ?? values.endpoint;
    const question: WhatIfQuestion = {
      recording: fetched?.file ?? values.recording!,
      ...(fetched === null ? {} : { recordingName: `${values.gateway} (${fetched.endpoint})` }),
      ...(endpoint === null ? {} : { endpoint }),
      ...(values['trace-model'] === null ? {} : { model: values['trace-model'] }),
      ...(lastUs === undefined ? {} : { lastUs }),
      replica,
      gateway: {
        signalsUs: values['signals-interval'] ?? fetched?.gateway.signalsUs ?? SIGNALS_US,
        blockSize: values['router-block-size'] ?? fetched?.gateway.blockSize ?? BLOCK_SIZE,
      },
      alternatives: askedFleets(flags, fetched?.served ?? null, diagnostics),
      ...(values.runs === null ? {} : { runs: values.runs }),
    };
    return { question, close: () => fetched?.close() };
  } catch (error) {
    fetched?.close();
    throw error;
  }
}
