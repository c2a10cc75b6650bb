import { InputError } from '../../kernel/errors.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { readInputFile } from '../../workload/input-file.js';
import type { TraceServer } from '../../workload/trace.js';
import { readTraceHeader } from '../../workload/trace-v2/header/read-header.js';
import { checkConflicts } from '../config/flag-conflicts.js';
import { resolveCluster, type SimulationFlags } from '../config/resolve-cluster.js';
import { SERVER_FLAGS } from '../config/server-settings.js';
import type { FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { ReplayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { REPLAY } from '../simulate/replay.js';

const SILENT = { warn: () => {}, info: () => {}, debug: () => {} };

/**
 * Checks before anything is sent that the given settings can be simulated. An unknown model may still have a name
 * that the server reports. @param given arguments of `replay`
 */
export async function checkReplay(model: string, given: readonly string[], isSimModel: boolean): Promise<void> {
  const flags = await replayFlags(model, given);
  checkConflicts(flags);
  const unknown = unknownModel(flags);
  if (unknown === null) await resolveCluster(flags, SILENT);
  else if (isSimModel) throw unknown;
}

/**
 * The arguments of `replay` that describe the server. It reads settings from the header of the trace, unless the model is given a
 * name other than the server's.
 */
export async function replayArguments(
  header: string,
  simModel: string | null,
  given: readonly string[],
): Promise<string[]> {
  const { server = {} } = await readTraceHeader((await readInputFile(header)).toString('utf8'), header);
  if (simModel === null) {
    const unknown = server.model === undefined ? null : unknownModel(await replayFlags(server.model, given));
    if (unknown !== null) throw unknown;
    return [...given];
  }
  const settings = Object.entries(SERVER_FLAGS).flatMap(([name, flag]) => {
    const value = server[name as keyof TraceServer];
    return flag === 'model' || value === undefined || value === 0 ? [] : [`--${flag}`, String(value)];
  });
  return ['--model', simModel, ...settings, ...given];
}

type ReplayFlags = FlagValues<SimulationFlags & ReplayWorkloadFlags>;

function replayFlags(model: string, given: readonly string[]): Promise<ReplayFlags> {
  return parseFlags(REPLAY, ['--model', model, ...given]);
}

/** The error for a model that is not in the catalogue; null when it is, or when a profile replaces it. */
function unknownModel({ values }: ReplayFlags): InputError | null {
  if (values['latency-profile'] !== null) return null;
  try {
    loadModel(values.model!.toLowerCase(), { modelConfigFolder: values['model-config-folder'] ?? undefined });
    return null;
  } catch (error) {
    if (!(error instanceof InputError) || error.place !== '--model') throw error;
    return new InputError(error.code, '--sim-model', error.problem, error.hint);
  }
}
