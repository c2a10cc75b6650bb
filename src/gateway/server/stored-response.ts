import type { AccessKey } from '../access/keys/access-key.js';
import { isReached } from '../access/reach.js';
import { responseUnknown } from '../errors.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import { type EndpointDirectory, endpointWorkspace } from '../fleet/endpoint-directory.js';
import type { ResponseHolders } from '../proxy/response-holders.js';
import type { RequestFacts } from '../request/request-facts.js';

interface StoredHost {
  readonly directory: EndpointDirectory;
  readonly responses: ResponseHolders;
}

interface StoredResponse {
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly replicaId: string;
}

/**
 * Where a response is stored; throws an ApiError when the key created none of this id or no longer reaches its model, or
 * its replica has left.
 */
export function storedResponse(
  { directory, responses }: StoredHost,
  id: string,
  key: AccessKey | null,
): StoredResponse {
  const held = responses.find(id);
  if (held === undefined || held.keyId !== (key?.id ?? '')) throw responseUnknown(id);
  const endpoint = directory.byName.get(held.endpoint);
  if (!endpoint?.replicas.some((replica) => replica.id === held.replicaId)) throw responseUnknown(id);
  if (key !== null && !isReached(key.reach, endpointWorkspace(endpoint), held.model)) throw responseUnknown(id);
  return { model: held.model, endpoint, replicaId: held.replicaId };
}

/**
 * The replica that stores the response which a request continues; empty when it continues none. One that is not
 * remembered here may still be known to a replica, which decides itself.
 */
export function continuedAt(host: StoredHost, facts: RequestFacts, endpoint: Endpoint, key: AccessKey | null): string {
  const id = facts.kind === 'responses' ? facts.body.value('previous_response_id') : undefined;
  if (typeof id !== 'string' || host.responses.find(id) === undefined) return '';
  const stored = storedResponse(host, id, key);
  return stored.endpoint === endpoint ? stored.replicaId : '';
}
