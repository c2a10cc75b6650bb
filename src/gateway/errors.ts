import { writeProblem } from '../files/file-problem.js';
import { InputError } from '../kernel/errors.js';
import type { Shortfall } from '../policy/contract.js';
import { ApiError } from '../protocol/errors.js';

/** Errors for clients when the gateway itself cannot serve a request; in OpenAI's shape, one function per cause. */

/** A client's name for something, cut to the length of a message. */
export const shown = (name: string) => (name.length > 100 ? `${name.slice(0, 97)}...` : name);

export const bodyTooLarge = (limit: number) =>
  new ApiError('too_large', `The body is larger than ${limit} bytes, the limit for this request.`);

/** Bodies become free when requests end: usually soon, but the time is unknown. */
const BODIES_RETRY_S = 1;

export const bodiesTooMany = () =>
  new ApiError(
    'unavailable',
    `The gateway has no room for the body: too many requests are under way. Try again in ${BODIES_RETRY_S} s.`,
    null,
    BODIES_RETRY_S,
  );

export const bodiesOfKeyFull = (limit: number) =>
  new ApiError(
    'limited',
    `The bodies of this key's requests under way exceed ${limit} bytes. Try again in ${BODIES_RETRY_S} s.`,
    null,
    BODIES_RETRY_S,
  );

export const encodingUnknown = (encoding: string) =>
  new ApiError('malformed', `Bodies with content-encoding '${shown(encoding)}' are not accepted: send it plain.`);

export const pathUnknown = (method: string, path: string) =>
  new ApiError('unknown_path', `There is no ${method} ${shown(path)} here.`);

export const methodWrong = (method: string, path: string, allowed: string) =>
  new ApiError('wrong_method', `${shown(path)} does not take ${method}: use ${allowed}.`);

export const modelUnknown = (model: string) =>
  new ApiError(
    'unknown_model',
    `No replica serves the model '${shown(model)}'. GET /v1/models lists those that are.`,
    'model',
  );

export const taskWrong = (model: string, task: string, path: string, needed: string) =>
  new ApiError(
    'malformed',
    `The model '${shown(model)}' is served for ${task}: ${path} needs one for ${needed}.`,
    'model',
  );

export const responseUnknown = (id: string) =>
  new ApiError('unknown_path', `The response '${shown(id)}' is not stored here, or not any more.`);

export const endpointUnknown = (name: string) =>
  new ApiError('unknown_path', `There is no endpoint '${shown(name)}' here.`);

/** The endpoint is not known, and the control plane has not declared all endpoints yet. */
export class EndpointsNotSettled extends ApiError {
  constructor() {
    super('unavailable', 'Endpoints are still being looked up: try again in a moment.', null, 1);
  }
}

/** A bug. It is reported to the operator, not to the client. */
export const internalError = () => new ApiError('internal', 'The gateway failed; the request may be tried again.');

export const noReplica = (model: string, why: string) =>
  new ApiError('unavailable', `No replica can take a request for '${shown(model)}' now: ${why}.`);

export const replicasLimited = (model: string, afterS: number) =>
  new ApiError(
    'limited',
    `All replicas of '${shown(model)}' are rate limited. Try again in ${afterS} s.`,
    null,
    afterS,
  );

export const draining = () => new ApiError('unavailable', 'This gateway is going down: try another one.');

export const upstreamBroke = (replica: string, problem: string) =>
  new ApiError('upstream_broke', `Replica ${replica} broke off: ${problem}.`);

export const upstreamTimeout = (replica: string, what: string) =>
  new ApiError('upstream_timeout', `Replica ${replica} gave no ${what} in time.`);

/** Not admitted. After how many seconds it would be; Infinity when it never will. */
export function refusedEntry(reason: string, afterS: number, shortfall: Shortfall | null = null): NotAdmitted {
  const isEver = Number.isFinite(afterS);
  const when = isEver ? `Try again in ${afterS} s.` : 'As it is, it never will be.';
  return new NotAdmitted(`The request was not admitted: ${reason}. ${when}`, isEver ? afterS : null, shortfall);
}

/** With what it lacked, for operators: the response does not say it. */
export class NotAdmitted extends ApiError {
  constructor(
    message: string,
    afterS: number | null,
    readonly shortfall: Shortfall | null,
  ) {
    super('limited', message, null, afterS);
  }
}

export const queueFull = (waiting: number, afterS: number) =>
  new ApiError('limited', `The queue is full, ${waiting} requests wait. Try again in ${afterS} s.`, null, afterS);

export const queueShed = (afterS: number) =>
  new ApiError(
    'limited',
    `The queue is full, and the request made room for a more important one. Try again in ${afterS} s.`,
    null,
    afterS,
  );

export const queueExpired = (ttlS: number, afterS: number) =>
  new ApiError('queue_timeout', `No replica had room for the request in the ${ttlS} s that it may wait.`, null, afterS);

export const endpointGone = (name: string) =>
  new ApiError('unavailable', `The endpoint '${shown(name)}' has been removed.`);

/** Errors for operators: mistakes in files and addresses that show when the gateway starts or reloads. */

export const unusableTls = (path: string, problem: string) =>
  new InputError('TLS_UNUSABLE', path, problem, 'give a certificate and its key as readable PEM files');

export const unwritableLog = (path: string, problem: string) =>
  new InputError('OUTPUT_NOT_WRITABLE', path, `cannot be written (${problem})`, 'give a path in an existing folder');

export const sharedFile = (path: string, one: string, other: string) =>
  new InputError('OUTPUT_SHARED', path, `is meant for ${one} and for ${other}`, 'give each a file of its own');

export const unusableRecordingKey = (path: string, problem: string) =>
  new InputError('RECORDING_KEY_UNUSABLE', path, problem, 'put the key back, or remove the file to begin with new ids');

/** Reported to the operator while the gateway keeps running. @param what follows from it */
export const unwrittenLines = (path: string, cause: unknown, what: string) =>
  new Error(`${path}: cannot be written (${writeProblem(cause)}); ${what}`, { cause });

export const unusableAdminFile = (
  path: string,
  problem: string,
  hint = 'give a data_dir that can be written, or remove the file for a new token',
) => new InputError('ADMIN_FILE_UNUSABLE', path, problem, hint);

export const endpointTaken = (name: string) =>
  new InputError('ENDPOINT_TAKEN', `endpoint '${name}'`, 'there is one of this name', 'give it another name');

export const replicaTaken = (id: string) =>
  new InputError('REPLICA_TAKEN', `replica '${id}'`, 'there is one with this id', 'give it another id');

export const tooManyReplicas = (place: string, most: number) =>
  new InputError('TOO_MANY_REPLICAS', place, `more than ${most} replicas`, 'spread them over several endpoints');

export const badSockets = (problem: string, hint: string) =>
  new InputError('GATEWAY_SOCKETS', 'LISTEN_FDS', problem, hint);
