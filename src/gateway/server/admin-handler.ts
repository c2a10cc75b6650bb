import { ApiError } from '../../protocol/errors.js';
import { PROMETHEUS_TYPE } from '../../protocol/prometheus/exposition.js';
import { KEY_MISSING, KEY_WRONG, tooManyWrongKeys } from '../access/errors.js';
import { WrongKeys } from '../access/keys/wrong-keys.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import { readBody } from '../request/read-body.js';
import { respondAdmin } from './admin-api.js';
import type { AdminCaller } from './admin-extension.js';
import type { AdminHost } from './admin-host.js';
import { isToken } from './admin-role.js';
import { type AdminResponse, failed, ok } from './admin-route.js';
import { respondExtension } from './handle-extension.js';
import type { RequestHandler } from './listener.js';

/** Nothing that the API takes is larger. */
const MOST_BYTES = 1024 * 1024;

/** Answers the admin port: metrics for everybody who can reach it, the API for those who may have it. */
export function adminHandler(host: AdminHost): RequestHandler {
  const wrong = new WrongKeys(host.config.access.wrongKeysPerMinute);
  return (request, response) => {
    responseOf(host, wrong, request, response).then(
      (answer) => {
        if (answer !== null) send(response, answer);
      },
      (fault) => {
        host.fault(fault);
        if (!response.headersSent) send(response, failed(500, 'the gateway failed'));
      },
    );
  };
}

/** What is to be sent; null when it has been. */
async function responseOf(
  host: AdminHost,
  wrong: WrongKeys,
  request: HttpRequest,
  response: HttpResponse,
): Promise<AdminResponse | null> {
  const accept = request.header('accept') ?? '';
  const { url } = request;
  const path = url.split('?', 1)[0]!;
  if (path === '/health') return ok({ status: 'alive' });
  if (path === '/metrics') return { ...ok(host.metricsText()), type: PROMETHEUS_TYPE };
  if (!path.startsWith('/api/')) return failed(404, `there is no ${path} here`);
  const who = whoAsks(host, wrong, request);
  if ('status' in who) return who;
  const query = new URLSearchParams(url.slice(path.length));
  const body = () => bodyOf(request);
  const { extension } = host;
  if (extension?.handles(path)) {
    return respondExtension(host, extension, request, response, { caller: who, path, query, body });
  }
  return respondAdmin(host, who, request.method, path, { query, accept, body });
}

const KEEPER: AdminCaller = { name: 'admin', role: 'admin', keyId: null };

/**
 * Whoever asks, or what he is told instead. What is right is let in at any time: nobody's wrong guesses shut the
 * door on others behind the same address, and what has so many random bits is not guessed.
 */
function whoAsks(host: AdminHost, wrong: WrongKeys, request: HttpRequest): AdminCaller | AdminResponse {
  const authorization = request.header('authorization');
  if (isToken(authorization ?? '', host.adminToken)) return KEEPER;
  const { address } = request;
  if (host.holders !== null) {
    const found = host.holders.check(authorization, request.header('x-api-key'), address);
    if (!(found instanceof ApiError)) return { name: found.record.name, role: found.role, keyId: found.id };
    return refused(found === KEY_MISSING || found === KEY_WRONG ? NO_TOKEN_OR_KEY : found);
  }
  if (authorization === undefined) return refused(NO_TOKEN);
  wrong.mostPerMinute = host.config.access.wrongKeysPerMinute;
  const waitS = wrong.count(address, host.nowMs());
  return refused(waitS === 0 ? NO_TOKEN : tooManyWrongKeys(waitS));
}

const NO_TOKEN = new ApiError('unauthorized', 'the admin token is missing or wrong');
const NO_TOKEN_OR_KEY = new ApiError('unauthorized', 'the admin token, or a key with a role, is missing or wrong');

function refused({ message, retryAfterS, status }: ApiError): AdminResponse {
  const retry = retryAfterS === null ? [] : ['retry-after', String(retryAfterS)];
  return failed(status, message, status === 401 ? ['www-authenticate', 'Bearer', ...retry] : retry);
}

/** Rejects with an ApiError when it is too large, and never settles when the client left. */
function bodyOf(request: HttpRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    readBody(request, MOST_BYTES, (error, body) => {
      if (error === null) resolve(body.toString('utf8'));
      else reject(error);
    });
  });
}

function send(response: HttpResponse, { body, headers = [], status, type }: AdminResponse): void {
  const text = type === undefined ? `${JSON.stringify(body)}\n` : String(body);
  const bytes = Buffer.from(text);
  response.writeHead(status, [
    ...[
      'content-type',
      type ?? 'application/json',
      'content-length',
      String(bytes.length),
      'cache-control',
      'no-store',
    ],
    ...['x-content-type-options', 'nosniff', ...headers],
  ]);
  response.end(bytes);
}
