import {
  failing,
  fileChanged,
  fileNotFound,
  forbidden,
  gated,
  hubTokenRefused,
  type ModelProblem,
  modelNotFound,
  oddResponse,
  rateLimited,
  tokenNeeded,
  versionNotFound,
} from '../errors.js';
import type { ResponseHeaders } from './response-headers.js';
import { retryAfter } from './retry-after.js';

/** What was asked for: it decides what a 404 without an explanation means. */
export interface HubRequest {
  readonly what: 'models' | 'model' | 'file';
  /** What errors call it. */
  readonly place: string;
  readonly version?: string;
}

interface Refusal {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly hasToken: boolean;
  /** What the server said, without secrets. */
  readonly said: string;
  readonly now: number;
}

const CHECK_NAME = 'check the name; a private model needs a token that may read it';

/** What a response that is not the one hoped for means. Hubs tell why in `x-error-code`; mirrors often do not. */
export function statusProblem(asked: HubRequest, { hasToken, headers, now, said, status }: Refusal): ModelProblem {
  const { place } = asked;
  if (status === 429) return rateLimited(place, retryAfter(headers, now));
  if (status >= 500 || status === 408) return failing(place, status, said, retryAfter(headers, now));
  if (status === 416) return fileChanged(place, 'is shorter than it was');
  const reason = headers.text('x-error-code');
  if (reason === 'GatedRepo') return gated(place);
  if (reason === 'RepoNotFound') return modelNotFound(place, CHECK_NAME);
  if (reason === 'RevisionNotFound') return noVersion(asked);
  if (reason === 'EntryNotFound') return fileNotFound(place);
  if (status === 401) return hasToken ? hubTokenRefused(place) : tokenNeeded(place);
  if (status === 403) return forbidden(place, said);
  if (status === 404 && asked.what === 'model') return modelNotFound(place, CHECK_NAME);
  if (status === 404 && asked.what === 'file') return fileNotFound(place);
  return oddResponse(place, `answered ${status}${said}`);
}

const noVersion = ({ place, version = '' }: HubRequest) =>
  versionNotFound(place, version, 'give a branch, a tag or a commit of it');
