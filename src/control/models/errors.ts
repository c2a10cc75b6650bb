import { InputError, RunError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';

/**
 * Errors of models and registries. Codes are stable and start with REGISTRY_ or MODEL_. Errors in the input are an `InputError`,
 * all others a `ModelError`. Addresses are passed without credentials and queries, texts of servers without the token.
 */

/** A failure of the registry, the network or the disk. */
export class ModelError extends RunError {
  constructor(
    code: string,
    readonly place: string,
    readonly problem: string,
    readonly hint: string,
    /** It may go away by itself, and can be retried. */
    readonly transient: boolean = false,
    /** The registry's Retry-After, if it sent one. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(code, `${place}: ${problem}; ${hint}`);
  }
}

export type ModelProblem = InputError | ModelError;

export function isModelProblem(error: unknown): error is ModelProblem {
  return error instanceof InputError || error instanceof ModelError;
}

export const isTransient = (error: unknown): error is ModelError => error instanceof ModelError && error.transient;

export const unknownRegistryType = (place: string, given: string, known: readonly string[]) =>
  new InputError('REGISTRY_KIND_UNKNOWN', place, `unknown kind of registry '${given}'`, knownNames(given, known));

/** The address itself is not repeated: it may contain a password. */
export const badUrl = (place: string, problem: string, accepted: string) =>
  new InputError('REGISTRY_URL', place, problem, `give ${accepted}`);

export const badToken = (place: string, problem: string, hint: string) =>
  new InputError('REGISTRY_TOKEN', place, problem, hint);

export const badName = (given: string, accepted: string) =>
  new InputError('MODEL_NAME', `model ${JSON.stringify(given)}`, 'is not a valid model name', `give ${accepted}`);

export const badVersion = (name: string, given: string) =>
  new InputError(
    'MODEL_VERSION',
    `model '${name}'`,
    `${JSON.stringify(given)} is not a valid version`,
    'give a branch, a tag or a commit',
  );

export const modelNotFound = (place: string, hint: string) =>
  new InputError('MODEL_NOT_FOUND', place, 'model does not exist', hint);

export const versionNotFound = (place: string, given: string, hint: string) =>
  new InputError('MODEL_VERSION_NOT_FOUND', place, `version '${given}' does not exist`, hint);

export const versionNeeded = (place: string, versions: readonly string[]) =>
  new InputError('MODEL_VERSION_NEEDED', place, 'has several versions', `give one of ${versions.join(', ')}`);

export const nothingSelected = (place: string, problem: string) =>
  new InputError('MODEL_NOTHING_SELECTED', place, problem, 'give patterns that match files of the model');

export const badPattern = (place: string, given: string) =>
  new InputError('MODEL_PATTERN', place, `${JSON.stringify(given)} is not a pattern`, "give one as '*.safetensors'");

export const badChecksumLine = (file: string, line: number) =>
  new InputError(
    'MODEL_CHECKSUM_LIST',
    `${file}:${line}`,
    'is not a checksum',
    "give lines as '<64 hex digits>  <file>'",
  );

export const noConfig = (place: string) =>
  new InputError('MODEL_NO_CONFIG', place, 'has no config.json', 'give a model in the Hugging Face layout');

export const badWeights = (place: string, problem: string) =>
  new InputError('MODEL_WEIGHTS', place, problem, 'download the model again, or give another');

export const badMemory = (field: string, given: number, accepted: string) =>
  new InputError('MODEL_MEMORY', field, `${given} is out of range`, `give ${accepted}`);

export const hubUnreachable = (place: string, problem: string) =>
  new ModelError('REGISTRY_UNREACHABLE', place, problem, 'check its address, the network and the proxy', true);

export const failing = (place: string, status: number, reason: string, retryAfterMs: number | null) =>
  new ModelError(
    'REGISTRY_FAILING',
    place,
    `returned status ${status}${reason}`,
    'try again later, or use another mirror',
    true,
    retryAfterMs,
  );

export const rateLimited = (place: string, retryAfterMs: number | null) =>
  new ModelError(
    'REGISTRY_RATE_LIMITED',
    place,
    'rate limit exceeded',
    retryAfterMs === null ? 'try again later' : `try again in ${Math.ceil(retryAfterMs / 1000)} s`,
    true,
    retryAfterMs,
  );

export const hubTokenRefused = (place: string) =>
  new ModelError('REGISTRY_TOKEN_REFUSED', place, 'the token is not accepted', 'give a valid one');

export const tokenNeeded = (place: string) =>
  new ModelError('REGISTRY_TOKEN_NEEDED', place, 'requires a token', 'give one with read access');

export const hubForbidden = (place: string, reason: string) =>
  new ModelError('REGISTRY_FORBIDDEN', place, `access denied${reason}`, 'give a token with read access');

export const gated = (place: string) =>
  new ModelError(
    'MODEL_GATED',
    place,
    'is gated: its terms have to be accepted',
    "accept them on the model's page, and give a token of the same account",
  );

export const oddResponse = (place: string, problem: string) =>
  new ModelError('REGISTRY_RESPONSE', place, problem, 'check that the address is that of a model hub');

export const badRedirect = (place: string, problem: string) =>
  new ModelError('REGISTRY_REDIRECT', place, problem, 'check the address of the registry');

export const unusableFolder = (place: string, problem: string) =>
  new ModelError('REGISTRY_FOLDER', place, problem, 'give a folder that exists and may be read');

export const fileNotFound = (place: string) =>
  new ModelError('MODEL_FILE_NOT_FOUND', place, 'is listed but missing', 'report it to the operator of the registry');

export const unsafeFile = (place: string, problem: string) =>
  new ModelError('MODEL_FILE_NAME', place, problem, 'do not use this model, or exclude the file with ignore');

export const fileChanged = (place: string, problem: string) =>
  new ModelError('MODEL_FILE_CHANGED', place, problem, 'start the download again', true);

export const interrupted = (place: string, bytes: number, size: number) =>
  new ModelError('MODEL_FILE_INTERRUPTED', place, `ended after ${bytes} of ${size} bytes`, 'try again later', true);

export const wrongChecksum = (place: string, algorithm: string) =>
  new ModelError(
    'MODEL_CHECKSUM',
    place,
    `its ${algorithm} does not match the registry's`,
    'use another mirror, or report it to the operator of the registry',
  );

export const diskFull = (folder: string, needed: number, free: number | null) =>
  new ModelError(
    'MODEL_DISK_FULL',
    folder,
    `${gib(needed)} GiB are needed${free === null ? '' : `, ${gib(free)} GiB are free`}`,
    'remove unused models, or give another cache folder',
    true,
  );

export const unusableCache = (place: string, problem: string) =>
  new ModelError('MODEL_CACHE', place, problem, 'give a cache folder that only this program writes to');

const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
