import { ModelError } from '../control/models/errors.js';
import { InvalidResources } from '../control/resources/errors.js';
import { kindNamed, listCommand } from '../control/resources/kinds.js';
import { DEFAULT_WORKSPACE } from '../control/resources/resource.js';
import { NEEDS_ADMIN } from '../control/store/errors.js';
import { resourceView } from '../control/store/resource-view.js';
import { InputError, RunError } from '../kernel/errors.js';
import { ApiError } from '../protocol/errors.js';
import { isStoreFailure } from '../store/database/errors.js';
import { ResourceConflict } from '../store/resources/resource-errors.js';
import type { ApiResponse } from './api-route.js';
import { CrossSite, Forbidden, Unauthenticated, WrongMethod } from './errors.js';

/** One thing wrong with what was sent. */
export interface ApiProblem {
  readonly code: string;
  readonly place: string;
  readonly problem: string;
  readonly hint: string;
}

/** The body of every error of the API: `{"error": {...}}`. Codes are stable, messages are for people. */
export interface ApiErrorBody {
  readonly code: string;
  readonly message: string;
  /** What to do; may be empty. */
  readonly hint: string;
  /** Everything wrong with what was sent, each with its place. */
  readonly problems?: readonly ApiProblem[];
  /** With 409: what has changed since the version that the change was made for. */
  readonly differences?: readonly unknown[];
  /** With 409: the resource as it is now; null when it does not exist. */
  readonly current?: unknown;
}

/** The status of codes that mean something else than 400. */
const STATUS: Readonly<Record<string, number>> = {
  API_DECISION: 404,
  API_REQUEST: 404,
  API_ENDPOINT: 404,
  API_FILE_ENDPOINT: 409,
  API_JOB: 404,
  API_JOBS_FULL: 429,
  API_KIND: 404,
  API_MANAGED: 409,
  API_METHOD: 405,
  API_NO_EARLIER_POLICY: 409,
  API_NO_EARLIER_REVISION: 409,
  API_NOT_RECORDING: 409,
  API_NO_KEYS: 409,
  API_NO_LAB: 409,
  API_NO_STORE: 409,
  API_NO_PROFILES: 409,
  API_PATH_UNKNOWN: 404,
  API_POLICY_CHANGED: 409,
  API_POLICY_IN_FORCE: 409,
  API_PROFILE: 404,
  API_REPLICA: 404,
  API_REPLICA_ELSEWHERE: 409,
  API_REPLICA_EXISTS: 409,
  API_SESSIONS_FULL: 429,
  API_STREAMS_FULL: 429,
  API_SWITCH_UNDER_WAY: 409,
  API_TOO_FEW_REQUESTS: 409,
  API_UPLOAD: 404,
  ENDPOINT_TAKEN: 409,
  KEY_REVOKED: 409,
  LAB_NOT_DONE: 409,
  LAB_SAVED: 404,
  LAB_SAVED_FULL: 409,
  LAB_UPLOAD_UNWRITABLE: 503,
  MODEL_NOT_FOUND: 404,
  MODEL_VERSION_NOT_FOUND: 404,
  PROFILE_ENGINE_UNKNOWN: 404,
  PROFILE_MISSING: 409,
  REPLICA_TAKEN: 409,
  RESOURCE_BUILT_IN: 409,
  RESOURCE_DELETING: 409,
  RESOURCE_IN_USE: 409,
  RESOURCE_LIMIT: 413,
  RESOURCE_UNKNOWN: 404,
  SHADOW_CONFIGURED: 409,
  SHADOW_TOO_MANY: 409,
  SHADOW_UNKNOWN: 404,
};

/** The response for an error of the client, the store or a registry. Anything else is a bug and is thrown again. */
export function errorResponse(error: unknown): ApiResponse {
  if (error instanceof Forbidden)
    return failed(403, { code: 'API_FORBIDDEN', message: error.message, hint: error.hint });
  if (error instanceof CrossSite)
    return failed(403, { code: 'API_CROSS_SITE', message: error.message, hint: error.hint });
  if (error instanceof Unauthenticated) return unauthenticated(error);
  if (error instanceof ApiError) {
    return failed(error.status, { code: `API_${error.kind.toUpperCase()}`, message: error.message, hint: '' });
  }
  if (error instanceof ResourceConflict) {
    const current = error.current === null ? null : resourceView(error.current);
    const { code, differences, message } = error;
    const hint =
      error.expected === null ? 'choose another name, or change that one' : 'get it again and apply the change to that';
    return failed(409, { code, message, hint, differences, current });
  }
  if (isStoreFailure(error)) {
    const { code, message } = error as RunError;
    return failed(503, { code, message, hint: 'try again later' }, ['retry-after', '1']);
  }
  if (error instanceof ModelError) {
    return failed(error.transient ? 503 : 502, { code: error.code, message: error.message, hint: '' });
  }
  if (error instanceof RunError) return failed(503, { code: error.code, message: error.message, hint: '' });
  if (error instanceof InvalidResources) {
    const { code, message, problems } = error;
    const isForbidden = problems.every((one) => one.code === NEEDS_ADMIN);
    return failed(isForbidden ? 403 : 422, { code, message, hint: '', problems: problems.map(problemOf) });
  }
  if (!(error instanceof InputError)) throw error;
  const said = error.code === 'RESOURCE_UNKNOWN' ? withList(error) : error;
  const { code, hint, place, problem } = said;
  const body = { code, message: `${place}: ${problem}`, hint, problems: [problemOf(said)] };
  const headers = error instanceof WrongMethod ? ['allow', error.allowed.join(', ')] : undefined;
  return failed(STATUS[code] ?? 400, body, headers);
}

function unauthenticated({ message, retryAfterS, status }: Unauthenticated): ApiResponse {
  const code = status === 401 ? 'API_UNAUTHENTICATED' : 'API_RATE_LIMITED';
  const hint = 'send the admin token or an API key with a role as Authorization: Bearer';
  const retry = retryAfterS === null ? [] : ['retry-after', String(retryAfterS)];
  return failed(status, { code, message, hint }, status === 401 ? ['www-authenticate', 'Bearer', ...retry] : retry);
}

function failed(status: number, error: ApiErrorBody, headers?: readonly string[]): ApiResponse {
  return headers === undefined ? { status, body: { error } } : { status, body: { error }, headers };
}

/** `Endpoint search/chat: does not exist`, with the command that lists those that do. */
function withList({ code, place, problem }: InputError): InputError {
  const [, kind = '', workspace = DEFAULT_WORKSPACE] = /^(\S+) (?:([^/]*)\/)?/.exec(place) ?? [];
  return new InputError(code, place, problem, `see '${listCommand(kindNamed(kind, place), workspace)}'`);
}

const problemOf = ({ code, place, problem, hint }: InputError): ApiProblem => ({ code, place, problem, hint });
