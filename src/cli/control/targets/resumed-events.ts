import { setTimeout as delay } from 'node:timers/promises';
import { RunError } from '../../../kernel/errors.js';
import type { ServerEvent } from '../../../protocol/sse/server-events.js';
import type { ApiClient, CallOptions } from '../../api/api-client.js';
import type { CliIo } from '../../io.js';

/** Where a stream starts: called for each connection, with whether it is the first. */
type QueryOf = (isFirst: boolean) => NonNullable<CallOptions['query']>;

const AGAIN_MS = 500;

/**
 * The events of a stream until the signal. A server that leaves is called again: the query says where to continue. Throws when the
 * server has never responded, and when it refuses the caller.
 */
export async function* resumedEvents(
  client: ApiClient,
  path: string,
  queryOf: QueryOf,
  signal: AbortSignal,
  io: Pick<CliIo, 'stderr'>,
): AsyncGenerator<ServerEvent> {
  let isFirst = true;
  let isLost = false;
  const opened = () => {
    isFirst = false;
    isLost = false;
  };
  while (!signal.aborted) {
    try {
      yield* client.events(path, queryOf(isFirst), signal, opened);
    } catch (error) {
      if (isFirst || !(error instanceof RunError)) throw error;
    }
    if (signal.aborted) return;
    if (!isLost) connectionLost(client, io);
    isLost = true;
    await delay(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}

export function connectionLost(client: ApiClient, io: Pick<CliIo, 'stderr'>): void {
  io.stderr.write(`twinyard: ${client.url}: connection lost, trying again\n`);
}
