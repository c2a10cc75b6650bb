import { xxhash64 } from '../../kernel/hash/xxhash64.js';
import { above, field, whole } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { FleetLoad, pickWithinBound } from './parts/bounded-load.js';
import { HashRing } from './parts/hash-ring.js';
import { openingText } from './parts/message-text.js';

interface KubeaiOptions {
  prefix_char_length: number;
  replication: number;
  mean_load_percentage: number;
}

export const kubeaiPrefixHash: RoutingPolicy<KubeaiOptions> = {
  name: 'kubeai-prefix-hash',
  summary:
    "KubeAI's prefix hash: the first 100 characters of the first user message choose a point on a ring with bounded loads.",
  goodFor:
    'Comparing with a KubeAI installation that uses its PrefixHash strategy. Sessions keep their key in every turn.',
  notFor:
    'Prompts that begin alike and go on differently, such as templates: they share a key, and only the bound spreads them. System prompts are not part of the key.',
  formula:
    'from the home of xxhash64(first 100 characters) clockwise, the first with inFlight + 1 <= 1.25 * (total inFlight + 1) / n, any if nothing is in flight; the home if there is none',
  options: {
    prefix_char_length: field(whole(0), {
      default: 100,
      help: 'characters that make the key',
      search: { from: 50, to: 4000, log: true },
    }),
    replication: field(whole(1, 10_000), { default: 256, help: 'points on the ring per replica' }),
    mean_load_percentage: field(above(0), {
      default: 125,
      help: 'maximum load, in percent of the mean',
      search: { from: 105, to: 400, log: true },
    }),
  },
  reads: () => ['inFlight', 'body'],
  create({ prefix_char_length, replication, mean_load_percentage }) {
    const ring = new HashRing(xxhash64, replication, (id, point) => `${id}${point}`);
    const load = new FleetLoad();
    return {
      pick({ body, contentKey }, view, why) {
        load.look(view);
        const mean = (load.total + 1) / load.replicas;
        load.bound = load.total === 0 ? Number.POSITIVE_INFINITY : mean * (mean_load_percentage / 100);
        const text = body === null ? contentKey : openingText(body);
        return pickWithinBound(ring, view, firstCharacters(text, prefix_char_length), load, why);
      },
      restore: (state) => ring.restore(state),
    };
  },
};

/** Counts code points: a surrogate pair is one character. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let i = 0; i < count && end < text.length; i++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
