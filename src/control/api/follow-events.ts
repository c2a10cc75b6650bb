import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceEvent, ResourceEvents } from '../../store/resources/resource-events.js';
import type { FeedFilter } from './change-feed.js';

const PAUSE_MS = 500;
const AT_ONCE = 1000;

/**
 * What happens after an event, the oldest first, until the signal. The store is asked again and again: events come from any
 * process that shares it. One that happens again comes again, with its count.
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
    const news = (await events.list({ ...filter, limit: AT_ONCE })).filter(({ id }) => id > seen).reverse();
    for (const event of news) {
      seen = event.id;
      yield event;
    }
    if (news.length === 0) await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}
