import type { KeyRole } from '../../store/keys/key-record.js';
import type { Keys } from '../../store/keys/keys.js';
import type { ResourceKind } from '../resources/kind.js';
import type { Runner } from '../runner/contract.js';
import type { ControlStore } from '../store/control-store.js';
import type { Caller } from './caller.js';
import type { ChangeFeed } from './change-feed.js';

export interface ControlHost {
  readonly store: ControlStore;
  readonly feed: ChangeFeed;
  readonly keys: Keys;
  /** Asked for what replicas have written. */
  readonly runner: Pick<Runner, 'list' | 'logs' | 'watch'>;
}

/** What a route is asked, once it is clear that whoever asks may. */
export interface ControlRequest {
  readonly caller: Caller;
  /** What the path names, decoded: `workspace`, `name`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** YAML or JSON. */
  readonly body: string;
  /** The header `if-match`: a resource version, with or without quotes. */
  readonly ifMatch?: string;
  /** Ends a stream. */
  readonly signal: AbortSignal;
}

export type ControlResponse =
  | { readonly status: number; readonly body: unknown; readonly headers?: readonly string[] }
  /** Server-sent events, each a whole one. */
  | { readonly status: 200; readonly stream: AsyncIterable<string> };

/**
 * Where the role has to be held: in the workspace that the path names, everywhere, or in any workspace at all. `each`: the
 * route itself asks for every resource it is given.
 */
export type RouteScope = 'workspace' | 'global' | 'anywhere' | 'each';

export interface ControlRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{workspace}`, `{name}` and `{model}`, each one part of the path. */
  readonly path: string;
  /** The least that whoever asks must be. */
  readonly role: Exclude<KeyRole, 'none'>;
  readonly scope: RouteScope;
  readonly summary: string;
  readonly kind?: ResourceKind;
  /** What comes and goes, for the documentation. */
  readonly takes?: 'resource' | 'status' | 'scale' | 'documents';
  readonly gives: 'resource' | 'list' | 'stream' | 'object';
  readonly query?: Readonly<Record<string, string>>;
  handle(host: ControlHost, request: ControlRequest): Promise<ControlResponse>;
}

export const ok = (body: unknown): ControlResponse => ({ status: 200, body });

/** Every refusal has this shape. */
export function failed(
  status: number,
  code: string,
  error: string,
  more: object = {},
  headers?: readonly string[],
): ControlResponse {
  const body = { error, code, ...more };
  return headers === undefined ? { status, body } : { status, body, headers };
}
