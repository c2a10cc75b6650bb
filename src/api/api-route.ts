import type * as v from 'valibot';
import type { ResourceKind } from '../control/resources/kind.js';
import { section, type Value } from '../schema/fields.js';
import type { RequiredRole } from './access/authorise.js';
import type { Caller } from './access/caller.js';
import type { ApiHost } from './api-host.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request after its path, role, query and body have been checked. */
export interface ApiRequest<Query = Readonly<Record<string, unknown>>, Body = unknown> {
  readonly caller: Caller;
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The value of a header, its name in lower case. */
  header(name: string): string | undefined;
  /** Aborted when the client has left or the server stops. */
  readonly signal: AbortSignal;
}

export type ApiResponse =
  | { readonly status: number; readonly body: unknown; readonly type?: string; readonly headers?: readonly string[] }
  /** Server-sent events, each a whole one. */
  | { readonly status: 200; readonly stream: AsyncIterable<string> };

/** What a request body holds: a JSON object by a schema, resources as YAML or JSON, passed on as text, or a file. */
export type BodyKind =
  | {
      readonly type: 'json';
      readonly schema: v.GenericSchema;
      readonly example: object;
      /** No body is the same as an empty object. */
      readonly optional?: true;
      /** Passed on as it was sent, without defaults. */
      readonly asGiven?: true;
    }
  | { readonly type: 'resource' | 'documents' | 'status' | 'patch' }
  /** A file, passed on as text. */
  | { readonly type: 'file'; readonly mostBytes: number };

/** What a response holds. Schemas have a title, by which OpenAPI names them. */
export type ResponseKind =
  | { readonly type: 'object'; readonly schema: v.GenericSchema }
  | {
      readonly type: 'list';
      readonly schema: v.GenericSchema;
      /** What a page has besides its items. */
      readonly more?: Readonly<Record<string, v.GenericSchema>>;
      readonly csv?: true;
    }
  | { readonly type: 'resource' | 'resources' | 'stream' | 'openapi' };

/** One operation of the API: routing, role checks, OpenAPI and the documentation come from it. */
export interface ApiRoute extends RequiredRole {
  readonly method: Method;
  /** With `{workspace}`, `{name}` and the like, each one segment of the path. */
  readonly path: string;
  readonly summary: string;
  readonly kind?: ResourceKind;
  readonly query: QuerySection;
  readonly body?: BodyKind;
  /** What the header if-match names: the change is refused with 409 where it is another one by then. */
  readonly ifMatch?: string;
  readonly response: ResponseKind;
  /** Of a successful response; 200 unless given. */
  readonly status?: 201 | 202;
  /** Responds with 201 where it creates what did not exist. */
  readonly mayCreate?: true;
  handle(host: ApiHost, request: ApiRequest<never, never>): ApiResponse | Promise<ApiResponse>;
}

export type QuerySection = v.GenericSchema<Record<string, unknown>>;

type Entries = v.ObjectEntries;
type QueryOf<Q extends Entries> = v.InferOutput<v.StrictObjectSchema<Q, undefined>>;
type BodyOf<B> = B extends undefined
  ? undefined
  : B extends { readonly type: 'json'; readonly schema: infer S extends v.GenericSchema }
    ? Value<S>
    : string;

/** A route with the types of its query and body. */
export function defineRoute<const Q extends Entries, const B extends BodyKind | undefined = undefined>(
  given: Omit<ApiRoute, 'query' | 'body' | 'handle'> & {
    readonly query?: Q;
    readonly body?: B;
    handle(host: ApiHost, request: ApiRequest<QueryOf<Q>, BodyOf<B>>): ApiResponse | Promise<ApiResponse>;
  },
): ApiRoute {
  const { body, query, ...rest } = given;
  return {
    ...rest,
    query: section('Query', query ?? {}) as unknown as QuerySection,
    ...(body === undefined ? {} : { body }),
  } as ApiRoute;
}

export const ok = (body: unknown): ApiResponse => ({ status: 200, body });
