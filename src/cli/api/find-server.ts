import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { badValue } from '../errors.js';
import type { CliIo } from '../io.js';
import { badAdminFile, noServer, noToken } from './errors.js';
import { DATA_DIR } from './server-flags.js';

export interface Server {
  /** Scheme, host and port. */
  readonly url: string;
  readonly token: string;
}

export interface ServerValues {
  readonly server: string | null;
  readonly token: string | null;
  readonly 'data-dir': string | null;
}

/**
 * The control plane that flags, the environment or a gateway that runs here name, in this order. The token of the gateway
 * here goes to that gateway and to nobody else.
 */
export function findServer(values: ServerValues, { env }: Pick<CliIo, 'env'>): Server {
  const path = join(values['data-dir'] ?? DATA_DIR, 'admin.json');
  const named = values.server ?? env.TWINYARD_SERVER;
  const given = values.token ?? env.TWINYARD_TOKEN;
  const here = named === undefined || given === undefined ? readAdminFile(path) : null;
  if (named === undefined && here === null) throw noServer(path);
  const url =
    named === undefined ? here!.url : originOf(named, values.server === null ? 'TWINYARD_SERVER' : '--server');
  const token = given ?? (here?.url === url ? here.token : undefined);
  if (token === undefined) throw noToken(url);
  return { url, token };
}

function originOf(given: string, place: string): string {
  const accepted = 'one such as http://127.0.0.1:8081';
  if (!URL.canParse(given)) throw badValue(place, given, 'is not a URL', accepted);
  const { origin, pathname, protocol, search } = new URL(given);
  if (protocol !== 'http:' && protocol !== 'https:') throw badValue(place, given, 'is no address on the web', accepted);
  if (pathname !== '/' || search !== '') throw badValue(place, given, 'has a path', accepted);
  return origin;
}

/** Null when no gateway has written it, or the one that did has ended. */
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
