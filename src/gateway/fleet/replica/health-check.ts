import type { JsonObject } from '../../../protocol/json/json-body.js';
import type { GatewayConfig } from '../../config/gateway-config.js';
import { CredentialRefused } from './external-pool.js';
import type { LiveReplica } from './live-replica.js';

/** More than any health response or list of models needs. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The path checked on an API without a health page; the replica adds the credential. */
const MODELS = '/v1/models';

/** Checks the health of a replica and, unless configured, reads its models. Never throws. */
export async function checkHealth(
  replica: LiveReplica,
  { failures, timeoutMs }: GatewayConfig['health'],
  nowMs: () => number,
): Promise<void> {
  try {
    if (replica.external === null) await checkEngine(replica, timeoutMs);
    else await checkExternal(replica, timeoutMs);
    replica.healthy(nowMs());
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    replica.unhealthy(error instanceof CredentialRefused ? message : (code ?? message), failures);
  }
}

async function checkEngine(replica: LiveReplica, timeoutMs: number): Promise<void> {
  const { healthPath } = replica;
  const { status } = await replica.page(healthPath, { timeoutMs, mostBytes: MOST_BYTES });
  if (status !== 200) throw new Error(`${healthPath} says ${status}`);
  if (replica.asksForModels) {
    const { text } = await replica.page(MODELS, { timeoutMs, mostBytes: MOST_BYTES });
    readModels(replica, text);
  } else if (replica.cards === null) await readCards(replica, timeoutMs);
}

/** Its models are configured: what it reports of them is only passed on, and it need not report anything. */
async function readCards(replica: LiveReplica, timeoutMs: number): Promise<void> {
  try {
    const { text } = await replica.page(MODELS, { timeoutMs, mostBytes: MOST_BYTES });
    replica.cards = cardsOf(text);
  } catch {
    replica.cards = new Map();
  }
}

/**
 * An API that responds and accepts the credential is healthy. It may lack a list of models as long as those are
 * configured, and a rate-limited one may accept the next request: its `retry-after` handles that.
 */
async function checkExternal(replica: LiveReplica, timeoutMs: number): Promise<void> {
  const { status, text } = await replica.page(MODELS, { timeoutMs, mostBytes: MOST_BYTES });
  if (status >= 500 || status === 403) throw new Error(`its list of models says ${status}`);
  if (!replica.asksForModels || (status === 429 && replica.models.size > 0)) return;
  if (status !== 200) throw new Error(`its list of models says ${status}: name its models`);
  readModels(replica, text);
}

function readModels(replica: LiveReplica, text: string): void {
  const cards = cardsOf(text);
  if (cards.size === 0) throw new Error('/v1/models names no model');
  replica.models = new Set(cards.keys());
  replica.cards = cards;
}

function cardsOf(text: string): Map<string, JsonObject> {
  const list = JSON.parse(text) as { data?: JsonObject[] };
  const cards = new Map<string, JsonObject>();
  for (const card of list.data ?? []) if (typeof card.id === 'string') cards.set(card.id, card);
  return cards;
}
