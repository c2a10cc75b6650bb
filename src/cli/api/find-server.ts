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
  /** The admin.json that has the address, if any: the file of a gateway that was killed remains. */
  readonly recordedIn?: string;
}

export interface ServerValues {
  readonly server: string | null;
  readonly token: string | null;
  readonly 'data-dir': string | null;
}

/**
 * The server that flags, the environment or the admin.json of a local gateway name, in this order. The token of admin.json is
 * sent only to the address in the same file.
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
  return { url, token, ...(named === undefined ? { recordedIn: path } : {}) };
}

function originOf(given: string, place: string): string {
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
