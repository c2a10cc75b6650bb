import { InputError, RunError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';

/**
 * What can go wrong with models and their registries. Codes are stable and start with REGISTRY_ or MODEL_. What a person has
 * to put right in what they wrote is an `InputError`; everything else is a `ModelError`. Addresses are given to these makers
 * without credentials and queries, texts of servers without the token.
 */

/** The registry, the network or the disk did not do its part. */
export class ModelError extends RunError {
  constructor(
    code: string,
    readonly place: string,
    readonly problem: string,
    readonly hint: string,
    /** May go away by itself: worth another try later. */
    readonly transient: boolean = false,
    /** How long the registry asks to be left alone, if it says so. */
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

/** The address itself is not repeated: it may hold a password. */
export const badUrl = (place: string, problem: string, accepted: string) =>
  new InputError('REGISTRY_URL', place, problem, `give ${accepted}`);

export const badToken = (place: string, problem: string, hint: string) =>
  new InputError('REGISTRY_TOKEN', place, problem, hint);

export const badName = (given: string, accepted: string) =>
  new InputError('MODEL_NAME', `model ${JSON.stringify(given)}`, 'is not a name of a model', `give ${accepted}`);

export const badVersion = (name: string, given: string) =>
  new InputError(
    'MODEL_VERSION',
    `model '${name}'`,
    `${JSON.stringify(given)} is not a version`,
    'give a branch, a tag or a commit',
  );

export const modelNotFound = (place: string, hint: string) =>
  new InputError('MODEL_NOT_FOUND', place, 'there is no such model', hint);

export const versionNotFound = (place: string, given: string, hint: string) =>
  new InputError('MODEL_VERSION_NOT_FOUND', place, `there is no version '${given}'`, hint);

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

export const failing = (place: string, status: number, said: string, retryAfterMs: number | null) =>
  new ModelError(
    'REGISTRY_FAILING',
    place,
    `answered ${status}${said}`,
    'try again later, or another mirror',
    true,
    retryAfterMs,
  );

export const rateLimited = (place: string, retryAfterMs: number | null) =>
  new ModelError(
    'REGISTRY_RATE_LIMITED',
    place,
    'has had too many requests from here',
    retryAfterMs === null ? 'try again later' : `try again in ${Math.ceil(retryAfterMs / 1000)} s`,
    true,
    retryAfterMs,
  );

export const hubTokenRefused = (place: string) =>
  new ModelError('REGISTRY_TOKEN_REFUSED', place, 'the token is not accepted', 'give one that is valid there');

export const tokenNeeded = (place: string) =>
  new ModelError('REGISTRY_TOKEN_NEEDED', place, 'wants a token', 'give one that may read it');

export const forbidden = (place: string, said: string) =>
  new ModelError('REGISTRY_FORBIDDEN', place, `does not allow it${said}`, 'give a token that may read it');

export const gated = (place: string) =>
  new ModelError(
    'MODEL_GATED',
    place,
    'is given only to those who accepted its terms',
    "accept them on the model's page, and give a token of that account",
  );

export const oddResponse = (place: string, problem: string) =>
  new ModelError('REGISTRY_ANSWER', place, problem, 'check that the address is that of a model hub');

export const badRedirect = (place: string, problem: string) =>
  new ModelError('REGISTRY_REDIRECT', place, problem, 'check the address of the registry');

export const unusableFolder = (place: string, problem: string) =>
  new ModelError('REGISTRY_FOLDER', place, problem, 'give a folder that exists and may be read');

export const fileNotFound = (place: string) =>
  new ModelError('MODEL_FILE_NOT_FOUND', place, 'is listed but not there', 'tell whoever keeps the registry');

export const unsafeFile = (place: string, problem: string) =>
  new ModelError('MODEL_FILE_NAME', place, problem, 'do not use this model, or leave the file out with ignore');

export const fileChanged = (place: string, problem: string) =>
  new ModelError('MODEL_FILE_CHANGED', place, problem, 'start the download again', true);

export const interrupted = (place: string, bytes: number, size: number) =>
  new ModelError('MODEL_FILE_INTERRUPTED', place, `ended after ${bytes} of ${size} bytes`, 'try again later', true);

export const wrongChecksum = (place: string, algorithm: string) =>
  new ModelError(
    'MODEL_CHECKSUM',
    place,
    `its ${algorithm} is not the one that the registry names`,
    'try another mirror, or tell whoever keeps the registry',
  );

export const diskFull = (folder: string, needed: number, free: number | null) =>
  new ModelError(
    'MODEL_DISK_FULL',
    folder,
    `${gib(needed)} GiB are needed${free === null ? '' : `, ${gib(free)} GiB are free`}`,
    'remove models that nobody uses, or give another cache folder',
    true,
  );

export const unusableCache = (place: string, problem: string) =>
  new ModelError('MODEL_CACHE', place, problem, 'give a cache folder that only this program writes to');

const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
