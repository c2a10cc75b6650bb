import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import { badValue, conflictingFlags } from '../errors.js';
import type { CliIo } from '../io.js';
import { type Context, contextNamed, readContexts } from './context-file.js';
import { badAdminFile, noServer, noToken } from './errors.js';
import { DATA_DIR } from './server-flags.js';

export interface Server {
  /** Scheme, host and port. */
  readonly url: string;
  readonly token: string;
  /** The admin.json that has the address, if any: the file of a gateway that was killed remains. */
  readonly recordedIn?: string;
}

export interface ServerValues {
  readonly server: string | null;
  readonly token: string | null;
  readonly 'data-dir': string | null;
  readonly context?: string | null;
}

type Env = Pick<CliIo, 'env'>;

/**
 * The server that flags, the environment, the context or the admin.json of a local gateway name, in this order. The token of a
 * context and that of admin.json are sent only to the address that they are stored with.
 */
export function findServer(values: ServerValues, { env }: Env): Server {
  const path = join(values['data-dir'] ?? DATA_DIR, 'admin.json');
  const context = selectedContext(values, { env });
  const isFlag = typeof values.context === 'string';
  const named = values.server ?? (isFlag ? context?.server : undefined) ?? env.TWINYARD_SERVER ?? context?.server;
  const given = values.token ?? (isFlag ? undefined : env.TWINYARD_TOKEN);
  const url = named === undefined ? undefined : originOf(named, placeOf(values, env, context));
  const stored = url !== undefined && url === context?.server ? context.token : undefined;
  const token = given ?? stored ?? env.TWINYARD_TOKEN;
  const here = url === undefined || token === undefined ? readAdminFile(path) : null;
  if (url === undefined) {
    if (here === null) throw noServer(path);
    return { url: here.url, token: token ?? here.token, recordedIn: path };
  }
  const known = token ?? (here?.url === url ? here.token : undefined);
  if (known === undefined) throw noToken(url);
  return { url, token: known };
}

/** The workspace of resources that name none. */
export function workspaceFor(values: ServerValues & { readonly workspace: string | null }, io: Env): string {
  return values.workspace ?? selectedContext(values, io)?.workspace ?? DEFAULT_WORKSPACE;
}

/** The context in use; null for none: a server that is named otherwise leaves the current one out. */
export function selectedContext(values: ServerValues, { env }: Env): Context | null {
  const { context: given = null } = values;
  if (given !== null) {
    if (values['data-dir'] !== null) {
      throw conflictingFlags('--context', 'is given together with --data-dir', 'keep one of them');
    }
    return contextNamed(readContexts(env), given, '--context');
  }
  if (values.server !== null || values['data-dir'] !== null || env.TWINYARD_SERVER !== undefined) return null;
  const file = readContexts(env);
  if (env.TWINYARD_CONTEXT) return contextNamed(file, env.TWINYARD_CONTEXT, 'TWINYARD_CONTEXT');
  return file.current === null ? null : contextNamed(file, file.current, 'current context');
}

function placeOf(values: ServerValues, env: CliIo['env'], context: Context | null): string {
  if (values.server !== null) return '--server';
  return env.TWINYARD_SERVER !== undefined && context === null ? 'TWINYARD_SERVER' : 'server of the context';
}

/** The address of a server as it is compared and called: scheme, host and port. */
export function originOf(given: string, place: string): string {
  const accepted = 'one such as http://127.0.0.1:8081';
  if (!URL.canParse(given)) throw badValue(place, given, 'is not a URL', accepted);
  const { origin, pathname, protocol, search } = new URL(given);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw badValue(place, given, 'is not an http or https URL', accepted);
  if (pathname !== '/' || search !== '') throw badValue(place, given, 'has a path', accepted);
  return origin;
}

/** Null when there is no such file: gateways delete theirs when they stop. */
function readAdminFile(path: string): Server | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw badAdminFile(path);
  }
  const { token, url } = parsed(text);
  if (typeof url !== 'string' || typeof token !== 'string' || !URL.canParse(url)) throw badAdminFile(path);
  return { url: new URL(url).origin, token };
}

function parsed(text: string): { url?: unknown; token?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}
