import { API_PATHS, type ApiKind } from '../../protocol/endpoints.js';

/** The path of a request by its kind: never as the client wrote it, which may have added anything. */
export const PATHS = Object.fromEntries(Object.entries(API_PATHS).map(([path, kind]) => [kind, path])) as Readonly<
  Record<ApiKind, string>
>;
