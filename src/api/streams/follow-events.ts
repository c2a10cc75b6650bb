import { setTimeout as delay } from 'node:timers/promises';
import type { FeedFilter } from '../../control/change-feed.js';
import type { ResourceEvent, ResourceEvents } from '../../store/resources/resource-events.js';

const PAUSE_MS = 500;
const AT_ONCE = 1000;

/**
 * Events of resources after one, the oldest first, until the signal. The store is polled, because every process that shares it
 * may add events. One that happens again is reported again, with its count.
 */
export async function* followEvents(
  events: Pick<ResourceEvents, 'list'>,
  since: number,
  filter: FeedFilter,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): AsyncGenerator<ResourceEvent> {
  let seen = since;
  while (!signal.aborted) {
    const news = (await events.list({ ...filter, after: seen, limit: AT_ONCE })).reverse();
    for (const event of news) {
      seen = event.id;
      yield event;
    }
    if (news.length === 0) await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}
