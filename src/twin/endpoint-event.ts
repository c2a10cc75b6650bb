import type { Gateway } from '../gateway/gateway.js';

/** Records an event of a declared endpoint. One of the configuration file has no resource, and so no events: the log has the line. */
export async function addEndpointEvent(
  { endpoints, store }: Pick<Gateway, 'endpoints' | 'store'>,
  endpoint: string,
  type: 'normal' | 'warning',
  reason: string,
  message: string,
): Promise<void> {
  const managed = endpoints.get(endpoint)?.managed;
  if (store === null || !managed) return;
  const { name, workspace } = managed;
  try {
    const record = await store.resources.get({ kind: 'Endpoint', workspace, name });
    if (record !== null) await store.events.add(record, type, reason, message);
  } catch {
    // The store is away: the log has the line.
  }
}
