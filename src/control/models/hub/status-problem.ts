import {
  failing,
  fileChanged,
  fileNotFound,
  gated,
  hubForbidden,
  hubTokenRefused,
  type ModelProblem,
  modelNotFound,
  oddResponse,
  rateLimited,
  tokenNeeded,
  versionNotFound,
} from '../errors.js';
import type { ResponseHeaders } from './response-headers.js';

/** What was requested: it decides the meaning of a 404 without an explanation. */
export interface HubRequest {
  readonly what: 'models' | 'model' | 'file';
  /** Used in errors. */
  readonly place: string;
  readonly version?: string;
}

interface Refusal {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly hasToken: boolean;
  /** The server's explanation, without secrets. */
  readonly reason: string;
  readonly now: number;
}

const CHECK_NAME = 'check the name; a private model needs a token with read access';

/** The error for an unexpected status. Hubs send the reason in `x-error-code`; mirrors often do not. */
export function statusProblem(request: HubRequest, { hasToken, headers, now, reason, status }: Refusal): ModelProblem {
  const { place } = request;
  if (status === 429) return rateLimited(place, retryAfter(headers, now));
  if (status >= 500 || status === 408) return failing(place, status, reason, retryAfter(headers, now));
  if (status === 416) return fileChanged(place, 'is shorter than it was');
  const code = headers.text('x-error-code');
  if (code === 'GatedRepo') return gated(place);
  if (code === 'RepoNotFound') return modelNotFound(place, CHECK_NAME);
  if (code === 'RevisionNotFound') return noVersion(request);
  if (code === 'EntryNotFound') return fileNotFound(place);
  if (status === 401) return hasToken ? hubTokenRefused(place) : tokenNeeded(place);
  if (status === 403) return hubForbidden(place, reason);
  if (status === 404 && request.what === 'model') return modelNotFound(place, CHECK_NAME);
  if (status === 404 && request.what === 'file') return fileNotFound(place);
  return oddResponse(place, `returned status ${status}${reason}`);
}

const noVersion = ({ place, version = '' }: HubRequest) =>
  versionNotFound(place, version, 'give a branch, a tag or a commit of it');

const SECONDS = /^\d{1,9}$/;
/** `"api";r=0;t=55`: what is left of the window, in seconds. */
const WINDOW_LEFT = /;\s*t=(\d{1,9})/;

/** How long to wait, in milliseconds, from `retry-after` or `ratelimit`; null when neither can be read. */
function retryAfter(headers: ResponseHeaders, now: number): number | null {
  const given = headers.text('retry-after');
  if (given === undefined) {
    const left = WINDOW_LEFT.exec(headers.text('ratelimit') ?? '')?.[1];
    return left === undefined ? null : Number(left) * 1000;
  }
  if (SECONDS.test(given)) return Number(given) * 1000;
  const until = Date.parse(given);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
}
