import { xxhash64 } from '../../kernel/hash/xxhash64.js';
import type { RoutingPolicy } from '../contract.js';
import { explainRule } from '../explanation.js';
import { NO_OPTIONS } from '../options.js';
import { eligibleCount, nthEligible } from './parts/eligible.js';
import { openingText } from './parts/message-text.js';

export const staticHash: RoutingPolicy = {
  name: 'static-hash',
  summary:
    'Sends prompts with the same first user message to the same replica, by a hash modulo the number of replicas.',
  goodFor: 'Comparing with a plain hash as simple proxies have it: perfect locality for a fixed fleet, at no cost.',
  notFor:
    'Keys that are not equally popular: the replica of a popular key stays overloaded. When a replica joins or leaves, nearly every key moves and all caches are cold.',
  formula: 'the (xxhash64(first user message) mod n)-th of the n eligible replicas',
  options: NO_OPTIONS,
  reads: () => ['body'],
  create() {
    const hash = new Uint32Array(2);
    let isRestored = false;
    return {
      pick({ body, contentKey }, view, why) {
        const candidates = eligibleCount(view);
        let chosen = -1;
        if (candidates > 0) {
          if (!isRestored) xxhash64(body === null ? contentKey : openingText(body), hash);
          // Modulo in two steps: 64 bits do not fit into a number.
          chosen = nthEligible(view, ((hash[0]! % candidates) * 2 ** 32 + hash[1]!) % candidates);
        }
        if (why !== undefined) {
          why.state.numbers.set(hash);
          explainRule(why, chosen, 0, 'hash of its first user message');
        }
        return chosen;
      },
      restore({ numbers }) {
        hash[0] = numbers[0]!;
        hash[1] = numbers[1]!;
        isRestored = true;
      },
    };
  },
};
