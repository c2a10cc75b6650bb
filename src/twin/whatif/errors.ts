import { InputError, RunError } from '../../kernel/errors.js';

/** Every error of what-if questions. Codes are stable. */

export function notRecorded(file: string, format: string): InputError {
  const problem = `is a trace of the format '${format}', which does not say what each replica returned`;
  return new InputError(
    'WHATIF_NOT_RECORDED',
    file,
    problem,
    "give a gateway's recording (`record` of its configuration)",
  );
}

export function noRequestsLeft(file: string, what: string): InputError {
  return new InputError('WHATIF_NO_REQUESTS', file, `has no request ${what}`, 'choose another part of the recording');
}

export function tooFewResponses(file: string, found: number, least: number): InputError {
  const problem = `has ${found} complete responses of replicas, and at least ${least} are needed to tell a difference from chance`;
  return new InputError('WHATIF_TOO_FEW', file, problem, 'record for longer, or choose a longer part');
}

export function tooFewToFit(file: string, least: number): InputError {
  const problem = `no replica has ${least} complete responses, so that step times cannot be fitted to it`;
  const hint = 'record for longer, or give the profile of the engines with --latency-profile';
  return new InputError('WHATIF_TOO_FEW', file, problem, hint);
}

export function unknownStart(file: string, problem: string): InputError {
  const hint =
    'name a model and a GPU of the catalogue (--model, --hardware, --tp), or give the profile of the engines with --latency-profile';
  return new InputError('WHATIF_NO_PROFILE', file, `step times cannot be fitted to it: ${problem}`, hint);
}

/** @param place what names the GPU */
export function gpuNotCarriedOver(place: string, problem: string): InputError {
  const hint =
    'step times carry over to another GPU by data sheets: name a model and GPUs of the catalogue, or describe them with --model-config-folder and --hardware-config';
  return new InputError('WHATIF_GPU', place, problem, hint);
}

export function whatIfCancelled(): RunError {
  return new RunError('WHATIF_CANCELLED', 'the what-if question was cancelled');
}

export function whatIfLost(problem: string): RunError {
  return new RunError('WHATIF_LOST', `the what-if question could not be answered: ${problem}`);
}
