import { md5Head } from '../../kernel/hash/md5.js';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import { above, choice, field, whole } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import type { RequestBody, RequestFeatures } from '../request-features.js';
import { FleetLoad, pickWithinBound } from './parts/bounded-load.js';
import { HashRing } from './parts/hash-ring.js';
import { messagesOf, systemPrompt, userMessages } from './parts/message-text.js';

interface ChwblOptions {
  virtual_nodes_per_replica: number;
  load_factor: number;
  max_user_messages_for_cache: number;
  capacity: 'exact' | 'ceil';
  key: 'messages' | 'first-message' | 'prefix-blocks';
}

export const chwbl: RoutingPolicy<ChwblOptions> = {
  name: 'chwbl',
  summary:
    'Consistent hashing with bounded loads: prompts that begin alike go to one replica until it has more than its share.',
  goodFor:
    'Several routers that share nothing: they send a session to the same replica without an index or a table. Few keys move when a replica joins or leaves.',
  notFor:
    'Light traffic with few keys: below about n / load_factor requests in flight no idle replica is within the bound, so a hot key piles up on its home; `capacity: ceil` avoids that. The default key changes once, between the first and the second turn of a session; the keys first-message and prefix-blocks do not.',
  formula:
    'from the home of MD5(key) clockwise, the first replica with inFlight + 1 <= load_factor * (total inFlight + 1) / n; the home if there is none',
  options: {
    virtual_nodes_per_replica: field(whole(1, 10_000), { default: 100, help: 'points on the ring' }),
    load_factor: field(above(0), {
      default: 1.25,
      help: 'maximum load relative to the mean: 1.25 is a quarter above it',
      search: { from: 1.05, to: 4, log: true },
    }),
    max_user_messages_for_cache: field(whole(0), {
      default: 2,
      help: 'user messages that are part of the key, after the system prompt',
      search: { from: 0, to: 4 },
    }),
    capacity: field(choice(['exact', 'ceil']), {
      default: 'exact',
      help: 'the bound as computed, or rounded up as in the paper: then an idle replica always accepts',
    }),
    key: field(choice(['messages', 'first-message', 'prefix-blocks']), {
      default: 'messages',
      help: 'system prompt and first user messages, the first user message alone, or the first block of the prompt',
      search: true,
    }),
  },
  reads: ({ key }) => ['inFlight', key === 'prefix-blocks' ? 'contentKey' : 'body'],
  create(options) {
    const ring = new HashRing(md5Head, options.virtual_nodes_per_replica, (id, point) => `${id}:${point}`);
    const load = new FleetLoad();
    return {
      pick(request, view, why) {
        load.look(view);
        const share = (options.load_factor * (load.total + 1)) / load.replicas;
        load.bound = options.capacity === 'ceil' ? Math.ceil(share) : share;
        return pickWithinBound(ring, view, keyOf(request, options), load, why);
      },
      restore: (state) => ring.restore(state),
    };
  },
};

function keyOf({ body, contentKey }: RequestFeatures, options: ChwblOptions): string {
  if (body === null || options.key === 'prefix-blocks') return contentKey;
  return options.key === 'first-message' ? messageKey(body, '', 1) : chatKey(body, options.max_user_messages_for_cache);
}

function chatKey(body: RequestBody, most: number): string {
  return messageKey(body, systemPrompt(messagesOf(body) ?? []), most);
}

/** `system:<s>|user_0:<u0>|user_1:<u1>`; a payload without messages is its own key. */
function messageKey(body: RequestBody, system: string, most: number): string {
  const messages = messagesOf(body);
  if (messages === null) return canonicalJson(body);
  const users = userMessages(messages, most).map((text, i) => `user_${i}:${text}`);
  return (system === '' ? users : [`system:${system}`, ...users]).join('|');
}
