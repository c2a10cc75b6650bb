import { ApiError } from '../../protocol/errors.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import type { AdminCaller, AdminExtension, ExtensionResponse } from './admin-extension.js';
import type { AdminHost } from './admin-host.js';
import { type AdminResponse, failed } from './admin-route.js';
import { sendStream } from './send-stream.js';

/** A call as it came, with its body unread. */
export interface ExtensionParts {
  caller: AdminCaller;
  path: string;
  query: URLSearchParams;
  body: () => Promise<string>;
}

/** What an extension says. A stream has been sent when this resolves: then there is nothing left to send, and it is null. */
export async function respondExtension(
  { stopSignal }: Pick<AdminHost, 'stopSignal'>,
  extension: AdminExtension,
  request: HttpRequest,
  response: HttpResponse,
  parts: ExtensionParts,
): Promise<AdminResponse | null> {
  const leaving = new AbortController();
  const leave = () => {
    leaving.abort();
    // Who waits for a body that will not come never gets to the end.
    stopSignal.removeEventListener('abort', leave);
  };
  response.onClose = leave;
  stopSignal.addEventListener('abort', leave, { once: true });
  try {
    const call = {
      ...parts,
      method: request.method,
      header: (name: string) => request.header(name),
      signal: leaving.signal,
    };
    const answer = await answered(extension.handle(call));
    if (!('stream' in answer)) return answer;
    const { headers = [], status, stream, type = 'text/event-stream' } = answer;
    const usual = ['content-type', type, 'cache-control', 'no-store', 'x-content-type-options', 'nosniff'];
    response.writeHead(status, [...usual, ...headers]);
    response.flushHeaders();
    if (stopSignal.aborted || request.method === 'HEAD') leave();
    await sendStream(response, stream, leaving.signal);
    return null;
  } finally {
    response.onClose = null;
    stopSignal.removeEventListener('abort', leave);
  }
}

async function answered(answer: Promise<ExtensionResponse>): Promise<ExtensionResponse> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError) return failed(error.status, error.message);
    throw error;
  }
}
