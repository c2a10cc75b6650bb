import type { ResourceEvent } from '../../store/resources/resource-events.js';

/** An event as the API returns it. */
export function eventView(event: ResourceEvent) {
  const { count, firstAt, id, kind, lastAt, message, name, reason, type, workspace } = event;
  return {
    ...{ id, kind, ...(workspace === '' ? {} : { workspace }), name, type, reason, message, count },
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
  };
}
