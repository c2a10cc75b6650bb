import type { JsonObject } from '../../protocol/json/json-body.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';

type Described = Pick<LiveReplica, 'cards' | 'models'>;

/**
 * A model as `GET /v1/models` describes it: every field of the first replica that reports it. Replicas may differ in
 * `max_model_len`; a prompt must fit wherever it is sent, so the least one counts.
 */
export function modelCard(model: string, replicas: readonly Described[]): JsonObject {
  const card: JsonObject = { id: model, object: 'model', created: 0, owned_by: 'twinyard' };
  let isReported = false;
  let least = Number.POSITIVE_INFINITY;
  for (const { cards, models } of replicas) {
    const reported = models.has(model) ? cards?.get(model) : undefined;
    if (reported === undefined) continue;
    if (!isReported) Object.assign(card, reported);
    isReported = true;
    if (typeof reported.max_model_len === 'number') least = Math.min(least, reported.max_model_len);
  }
  if (least < Number.POSITIVE_INFINITY) card.max_model_len = least;
  return card;
}
