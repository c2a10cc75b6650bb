import type { GatewayConfig } from '../gateway-config.js';
import type { LiveReplica } from './live-replica.js';

/** Asks a replica whether it is well and, where that is its business, what it serves. Never throws. */
export async function checkHealth(
  replica: LiveReplica,
  { failures, timeoutMs }: GatewayConfig['health'],
  nowMs: () => number,
): Promise<void> {
  try {
    const { statusCode, body } = await get(replica, '/health', timeoutMs);
    await body.dump();
    if (statusCode !== 200) {
      replica.unhealthy(`/health says ${statusCode}`, failures);
      return;
    }
    if (replica.asksForModels) await readModels(replica, timeoutMs);
    replica.healthy(nowMs());
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    replica.unhealthy(code ?? message, failures);
  }
}

async function readModels(replica: LiveReplica, timeoutMs: number): Promise<void> {
  const { body } = await get(replica, '/v1/models', timeoutMs);
  const list = (await body.json()) as { data?: { id?: unknown }[] };
  const names = (list.data ?? []).map(({ id }) => id).filter((id) => typeof id === 'string');
  if (names.length === 0) throw new Error('/v1/models names no model');
  replica.models = new Set(names);
}

function get(replica: LiveReplica, path: string, timeoutMs: number) {
  return replica.pool.request({ path, method: 'GET', headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
}
