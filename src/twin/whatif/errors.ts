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

/** Also of one that has some at other times. */
export function noRequests(file: string): InputError {
  const hint = 'send requests to the gateway, or choose a longer time';
  return new InputError('WHATIF_NO_REQUESTS', file, 'has no requests', hint);
}

export function severalEndpoints(file: string, names: readonly string[]): InputError {
  const problem = `has requests of ${names.length} endpoints, each with replicas of its own: ${names.join(', ')}`;
  return new InputError('WHATIF_ENDPOINTS', file, problem, 'choose one with --endpoint');
}

/** @param requests how many there are, none of which has a complete response */
export function noResponses(file: string, requests: number, isServed: boolean): InputError {
  if (isServed) {
    const problem = `has ${requests} requests, and no complete response of a replica: all failed, were refused or were cancelled`;
    return new InputError('WHATIF_TOO_FEW', file, problem, 'record a fleet that serves its requests');
  }
  const problem = `has ${requests} requests, and of none which replica served it and when it was sent there`;
  return new InputError('WHATIF_TOO_FEW', file, problem, 'record again with this version of the gateway');
}

/** @param responses how many are complete */
export function noStreams(file: string, responses: number): InputError {
  const problem = `has ${responses} complete responses, and none was streamed: only a stream shows when its first token came`;
  return new InputError('WHATIF_TOO_FEW', file, problem, 'record requests with "stream": true');
}

export function tooFewResponses(file: string, found: number, least: number): InputError {
  const responses = found === 1 ? 'response of a replica' : 'responses of replicas';
  const problem = `has ${found} complete ${responses}, and at least ${least} are needed to tell a difference from chance`;
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
