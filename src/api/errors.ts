import { InputError, RunError } from '../kernel/errors.js';
import { knownNames } from '../kernel/text/nearest-name.js';
import type { KeyRole } from '../store/keys/key-record.js';
import { shownRef } from '../store/resources/resource-errors.js';
import type { ResourceRef } from '../store/resources/resource-record.js';

/** Errors of the API itself. Codes are stable and start with API_ or CONTROL_. */

export const badQuery = (name: string, problem: string, hint: string) =>
  new InputError('API_QUERY', `?${name}`, problem, hint);

export const badBody = (path: string, problem: string, hint: string) =>
  new InputError('API_BODY', path === '' ? 'body' : `body (${path})`, problem, hint);

export const badPatch = (place: string, problem: string, hint: string) =>
  new InputError('API_PATCH', place, problem, hint);

export const unknownRevision = (place: string, given: number, known: readonly number[]) =>
  new InputError(
    'API_REVISION',
    place,
    `there is no revision ${given}`,
    known.length === 0 ? 'no revision is kept yet' : `kept: ${known.join(', ')}`,
  );

export const noEarlierRevision = (ref: ResourceRef) =>
  new InputError('API_NO_EARLIER_REVISION', shownRef(ref), 'has no earlier revision that is kept', 'change it instead');

export const otherThanPath = (place: string, given: string, wanted: string) =>
  new InputError('API_PATH', place, `is '${given}', but the path says '${wanted}'`, 'use the same name in both');

export const unknownReplica = (place: string, given: string, known: readonly string[]) =>
  new InputError(
    'API_REPLICA',
    place,
    `no replica '${given}'`,
    known.length === 0 ? 'the endpoint has none at present' : knownNames(given, known),
  );

/** The host of a local cluster runs its replicas, and changes are made at the leader. */
export const replicaElsewhere = (place: string, id: string) =>
  new InputError(
    'API_REPLICA_ELSEWHERE',
    place,
    `replica '${id}' is not run by this control plane`,
    "drain it in its cluster, or change the endpoint's resource",
  );

export const noPreviousLog = () =>
  new InputError('API_REPLICA', '?previous', 'no replica of the endpoint has ended', 'leave it out');

export const unknownDecision = (id: string) =>
  new InputError(
    'API_DECISION',
    `request '${id}'`,
    'has no recorded decision',
    'only the latest decisions are kept (limits.decisions)',
  );

export const unknownRequest = (id: string) =>
  new InputError('API_REQUEST', `request '${id}'`, 'is not among the last requests', 'see GET /api/v1/requests');

export const kindNotFound = (name: string, known: readonly string[]) =>
  new InputError('API_KIND', `kind '${name}'`, 'does not exist', `give one of ${known.join(', ')}`);

export const unknownEndpoint = (workspace: string, name: string) =>
  new InputError(
    'API_ENDPOINT',
    `endpoint ${workspace}/${name}`,
    'is not served by this gateway',
    'see GET /api/v1/live for those that are',
  );

/** Reconciliation would undo the change. */
export const managedEndpoint = (workspace: string, name: string) =>
  new InputError(
    'API_MANAGED',
    `endpoint ${workspace}/${name}`,
    'is managed by the control plane',
    'change its resource instead',
  );

export const endpointOfFile = (name: string) =>
  new InputError(
    'API_FILE_ENDPOINT',
    `endpoint default/${name}`,
    "is defined in the gateway's configuration file",
    'change the file, then POST /api/v1/config/reload',
  );

export const otherPolicy = (workspace: string, name: string, expected: string, present: string) =>
  new InputError(
    'API_POLICY_CHANGED',
    `endpoint ${workspace}/${name}`,
    `has the policy ${present}, and the change is for ${expected}`,
    'look at the policy in force, and make the change again',
  );

export const noEarlierPolicy = (workspace: string, name: string) =>
  new InputError(
    'API_NO_EARLIER_POLICY',
    `endpoint ${workspace}/${name}`,
    'has no earlier policy',
    'set one with PUT on its policy',
  );

export const noProfiles = () =>
  new InputError('API_NO_PROFILES', 'gateway', 'keeps no latency profiles', "start it with 'twinyard serve'");

export const unknownEngine = (workspace: string, name: string, given: string, known: readonly string[]) =>
  new InputError(
    'API_PROFILE',
    `endpoint ${workspace}/${name}`,
    `has no engine '${given}'`,
    known.length === 0 ? 'it has no replica with an engine' : knownNames(given, known),
  );

export const takenReplica = (id: string) =>
  new InputError('API_REPLICA_EXISTS', 'body (id)', `replica '${id}' already exists`, 'choose another id');

export const unlimitedKeys = () =>
  new InputError('API_NO_KEYS', 'access.keys', 'is off: no request is limited', 'set access.keys to required');

export const notRecording = () =>
  new InputError(
    'API_NOT_RECORDING',
    'gateway',
    'does not record its traffic',
    "set 'record' in its configuration and restart it",
  );

export const jobsFull = (most: number) =>
  new InputError('API_JOBS_FULL', 'jobs', `${most} jobs wait already`, 'wait for one to end, or cancel one');

export const labBusy = (workspace: string, open: number) =>
  new InputError(
    'API_JOBS_FULL',
    `workspace ${workspace}`,
    `has ${open} experiments that run or wait`,
    'wait for one to end, or cancel one',
  );

export const callerBusy = (actor: string, waiting: number) =>
  new InputError(
    'API_JOBS_FULL',
    `caller ${actor}`,
    `has ${waiting} jobs that wait`,
    'wait for one to start, or cancel one: others have their turn too',
  );

export const workspaceBusy = (workspace: string, waiting: number) =>
  new InputError(
    'API_JOBS_FULL',
    `workspace ${workspace}`,
    `has ${waiting} jobs that wait`,
    'wait for one to start, or cancel one: other workspaces have their turn too',
  );

export const tooManyStreams = (place: string, open: number) =>
  new InputError('API_STREAMS_FULL', place, `has ${open} streams open`, 'end one of them');

export const tooManySessions = (what: 'sessions' | 'login links', most: number) =>
  new InputError('API_SESSIONS_FULL', what, `there are ${most} already`, 'wait until one has ended');

export const unknownUpload = (id: string) =>
  new InputError('API_UPLOAD', `upload ${id.slice(0, 12)}`, 'is not kept any more', 'upload the file again');

export const notText = () =>
  new InputError('API_BODY', 'body', 'is not a text file', 'upload the trace or workload unpacked, as UTF-8 text');

export const notSavable = (id: string, state: string) =>
  new InputError('LAB_NOT_DONE', `job ${id}`, `is ${state}`, 'save an experiment once it is done');

export const unknownSaved = (id: string) =>
  new InputError('LAB_SAVED', `saved result ${id}`, 'does not exist', 'list them with GET .../lab/results');

export const noLab = () =>
  new InputError('API_NO_LAB', 'gateway', 'runs no experiments', "start it with 'twinyard serve'");

export const switchUnderWay = (workspace: string, name: string) =>
  new InputError(
    'API_SWITCH_UNDER_WAY',
    `endpoint ${workspace}/${name}`,
    'another switch of its policy is being watched',
    'wait for it to end, or cancel it: see GET /api/v1/jobs',
  );

export const tooFewToGuard = (endpoint: string, found: number, least: number) =>
  new InputError(
    'API_TOO_FEW_REQUESTS',
    `endpoint ${endpoint}`,
    `served ${found} requests in the time before the switch, and ${least} are needed to tell whether it gets worse`,
    "watch for longer ('watch'), or set the policy without a guard",
  );

export const policyInForce = (endpoint: string) =>
  new InputError('API_POLICY_IN_FORCE', `endpoint ${endpoint}`, 'has this policy already', 'choose another one');

export const notInForce = (endpoint: string, seconds: number) =>
  new RunError(
    'API_NOT_IN_FORCE',
    `endpoint ${endpoint}: the policy was not in force after ${seconds} s: see the events of the endpoint`,
  );

export const unknownJob = (id: string) =>
  new InputError('API_JOB', `job '${id}'`, 'does not exist', 'see GET /api/v1/jobs; ended jobs are kept for a while');

export const noOwnKey = () =>
  new InputError('API_NO_OWN_KEY', 'caller', 'has no API key', 'log in with one, or use GET /api/v1/usage');

export const playgroundFailed = (status: number, message: string) =>
  new RunError('API_PLAYGROUND', `the gateway responded with status ${status}: ${message}`);

export const playgroundUnreachable = (problem: string) =>
  new RunError('API_PLAYGROUND', `the port for clients cannot be reached from here: ${problem}`);

export const noStore = () =>
  new InputError('API_NO_STORE', 'gateway', 'has no store', "start it with --store, or with 'store' in its file");

export const noGateway = () =>
  new RunError('API_NO_GATEWAY', 'only a running gateway can do this: start one, or give --server');

export const noControlPlane = (why: string) => new RunError('CONTROL_NOT_OPEN', `no control plane here: ${why}`);

export const apiPathUnknown = (path: string) =>
  new InputError('API_PATH_UNKNOWN', path, 'no such path', 'see GET /api/v1/openapi.json');

export const wrongMethod = (method: string, path: string, allowed: readonly string[]) =>
  new WrongMethod(method, path, allowed);

export class WrongMethod extends InputError {
  constructor(
    method: string,
    path: string,
    readonly allowed: readonly string[],
  ) {
    super('API_METHOD', path, `does not support ${method}`, `use ${allowed.join(', ')}`);
  }
}

/** The caller's role does not suffice. */
export class Forbidden extends Error {
  readonly hint = 'use a key with that role';

  constructor(wanted: KeyRole, has: KeyRole, where: string) {
    super(`requires the role ${wanted} ${where}; the caller has the role ${has}`);
  }
}

/** The credentials are missing or wrong, or too many wrong ones came from the address. */
export class Unauthenticated extends Error {
  constructor(
    readonly status: 401 | 429,
    message: string,
    readonly retryAfterS: number | null = null,
  ) {
    super(message);
  }
}

/** A call with a session that a page of another site may have sent. */
export class CrossSite extends Error {
  readonly hint = 'load the console again, and send x-csrf-token with the csrf_token of GET /api/v1/session';
}
