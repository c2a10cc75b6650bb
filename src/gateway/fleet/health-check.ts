import type { GatewayConfig } from '../gateway-config.js';
import { ask } from '../upstream/ask.js';
import type { LiveReplica } from './live-replica.js';

/** Nobody needs so much to say that all is well, or to name models. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Asks a replica whether it is well and, where that is its business, what it serves. Never throws. */
export async function checkHealth(
  replica: LiveReplica,
  { failures, timeoutMs }: GatewayConfig['health'],
  nowMs: () => number,
): Promise<void> {
  try {
    const { status } = await ask(replica.questions, '/health', { timeoutMs, mostBytes: MOST_BYTES });
    if (status !== 200) {
      replica.unhealthy(`/health says ${status}`, failures);
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
  const { text } = await ask(replica.questions, '/v1/models', { timeoutMs, mostBytes: MOST_BYTES });
  const list = JSON.parse(text) as { data?: { id?: unknown }[] };
  const names = (list.data ?? []).map(({ id }) => id).filter((id) => typeof id === 'string');
  if (names.length === 0) throw new Error('/v1/models names no model');
  replica.models = new Set(names);
}
