import type { KeyRole } from '../../store/keys/key-record.js';
import type { AdminHost } from './admin-host.js';

/** What a route is asked, once it is clear who asks and that he may. */
export interface AdminRequest {
  /** Who asks, for the audit log. */
  by: string;
  /** What the path names, decoded; empty when it names nothing. */
  name: string;
  query: URLSearchParams;
  /** The header. */
  accept: string;
  body: string;
}

export interface AdminResponse {
  status: number;
  /** Sent as JSON; a text with a type of its own as it is. */
  body: unknown;
  type?: string;
  /** More of them, flat: name, value, name, value. */
  headers?: readonly string[];
}

/** One thing the admin API can do. */
export interface AdminRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With at most one `{name}`, which is one part of the path. */
  path: string;
  /** The least that whoever asks must be. */
  role: Exclude<KeyRole, 'none'>;
  handle(host: AdminHost, request: AdminRequest): AdminResponse | Promise<AdminResponse>;
}

/** What a path names; empty when it names nothing; null when it is not the route's. Still encoded. */
export function nameIn(path: string, route: AdminRoute): string | null {
  const at = route.path.indexOf('{');
  if (at < 0) return path === route.path ? '' : null;
  const before = route.path.slice(0, at);
  const after = route.path.slice(route.path.indexOf('}') + 1);
  if (!path.startsWith(before) || !path.endsWith(after)) return null;
  const name = path.slice(before.length, path.length - after.length);
  return name === '' || name.includes('/') ? null : name;
}

export function ok(body: unknown): AdminResponse {
  return { status: 200, body };
}

/** Every refusal has this shape. */
export function failed(status: number, error: string, headers?: readonly string[]): AdminResponse {
  return headers === undefined ? { status, body: { error } } : { status, body: { error }, headers };
}
