import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/text/nearest-name.js';
import type { SchemaCodes } from '../schema/problems.js';

/** The InputErrors of the replica layer. Codes are stable. */

export function fileNotReadable(place: string, reason: string): InputError {
  return new InputError('FILE_NOT_READABLE', place, `cannot be read (${reason})`, 'give a file that exists');
}

export function malformedJson(file: string, line: number, column: number, problem: string): InputError {
  return new InputError('MALFORMED_JSON', `${file}:${line}:${column}`, problem, 'give a valid JSON file');
}

/** `accepted` finishes the sentence "give ...". */
export function invalidFileField(file: string, field: string, problem: string, accepted: string): InputError {
  return new InputError('INVALID_FIELD', `${file} (${field})`, problem, `give ${accepted}`);
}

export function missingField(file: string, field: string, accepted: string): InputError {
  return new InputError('MISSING_FIELD', `${file} (${field})`, 'is missing', `give ${accepted}`);
}

export const FIELD_CODES: SchemaCodes = { invalid: 'INVALID_FIELD', unknownKey: 'UNKNOWN_FIELD' };

export function modelNotInCatalogue(given: string, folder: string, known: readonly string[]): InputError {
  return new InputError(
    'UNKNOWN_MODEL',
    '--model',
    `'${given}' is not in the catalogue`,
    `${knownNames(folder, known)}; for any other model give its config.json with --model-config-folder`,
  );
}

export function noModelInFolder(given: string, folder: string, searched: string, known: readonly string[]): InputError {
  return new InputError(
    'NO_MODEL_CONFIG',
    '--model-config-folder',
    `'${searched}' holds neither config.json nor ${folder}/config.json for '${given}'`,
    known.length === 0 ? 'give the folder of the model' : knownNames(folder, known),
  );
}

export function unknownGpu(given: string, known: readonly string[]): InputError {
  return new InputError(
    'UNKNOWN_GPU',
    '--hardware',
    `'${given}' is not in the catalogue`,
    `${knownNames(given, known)}; describe any other GPU in a file for --hardware-config`,
  );
}

export function unknownLatencyModel(given: string, known: readonly string[]): InputError {
  return new InputError('UNKNOWN_LATENCY_MODEL', '--latency-model', `no '${given}'`, knownNames(given, known));
}

export function unknownMoeCommBackend(given: string, known: readonly string[]): InputError {
  return new InputError('UNKNOWN_MOE_COMM_BACKEND', '--moe-comm-backend', `no '${given}'`, knownNames(given, known));
}

export function badFlagValue(flag: string, given: number, accepted: string): InputError {
  return new InputError('BAD_FLAG_VALUE', flag, `${given} is out of range`, `give ${accepted}`);
}

/** The model cannot be split over this many GPUs. */
export function unevenTp(tp: number, what: string, count: number, divisors: readonly number[]): InputError {
  return new InputError(
    'UNEVEN_TP',
    '--tp',
    `${tp} does not divide the model's ${count} ${what}`,
    `give one of ${divisors.join(', ')}`,
  );
}

export function dataParallelNeedsExperts(dp: number, model: string): InputError {
  return new InputError(
    'DP_NEEDS_MOE',
    '--dp',
    `${dp} ranks, but ${model} is not a mixture of experts`,
    'give 1 and raise --num-instances instead',
  );
}

/** A dimension that the model's config leaves out and that this calculation cannot do without. */
export function modelLacks(model: string, field: string, needed: string, hint: string): InputError {
  return new InputError('MODEL_LACKS_FIELD', `config.json of ${model} (${field})`, `${needed} needs it`, hint);
}

export function unsupportedActivation(model: string, given: string, known: readonly string[]): InputError {
  return new InputError(
    'UNSUPPORTED_ACTIVATION',
    `config.json of ${model} (hidden_act)`,
    `the size of a model with '${given}' is not known`,
    `give --total-kv-blocks; sizes are derived for ${known.join(', ')}`,
  );
}

export function modelDoesNotFit(place: string, problem: string): InputError {
  return new InputError(
    'MODEL_DOES_NOT_FIT',
    place,
    problem,
    'give more GPUs with --tp, a larger GPU with --hardware, or --total-kv-blocks',
  );
}

export function badProfile(place: string, problem: string, hint: string): InputError {
  return new InputError('BAD_PROFILE', place, problem, hint);
}

/** The latency model `profile` is nothing without its file. */
export function missingProfile(): InputError {
  return new InputError(
    'MISSING_PROFILE',
    '--latency-model',
    "'profile' has no step times of its own",
    'give --latency-profile with a file',
  );
}

export function badCoefficients(flag: string, problem: string, accepted: string): InputError {
  return new InputError('BAD_COEFFICIENTS', flag, problem, accepted);
}

/** A name that no entry of a registry has. */
export function unknownEntry(
  code: string,
  place: string,
  kind: string,
  given: string,
  known: readonly { name: string }[],
): InputError {
  const names = known.map((entry) => entry.name);
  return new InputError(code, place, `unknown ${kind} '${given}'`, knownNames(given, names));
}
