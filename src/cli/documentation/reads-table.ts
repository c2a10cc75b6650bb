import type { Signal } from '../../policy/fleet-view.js';
import { code, markdownTable } from './markdown.js';

interface SignalFacts {
  meaning: string;
  /** Its greatest age when a decision is made. */
  age: string;
}

const REPORTED = 'up to `--snapshot-refresh-interval`';
const OWN = 'always current: counted by the router';
const REQUEST = 'always current: part of the request';

/** Every signal of a replica or a request that a policy can read. */
const SIGNAL_FACTS: Readonly<Record<Signal, SignalFacts>> = {
  queued: { meaning: 'requests waiting inside the replica', age: REPORTED },
  running: { meaning: 'requests in its running batch', age: REPORTED },
  kvUsed: { meaning: 'share of its KV blocks in use, 0 to 1', age: REPORTED },
  freeBlocks: { meaning: 'free KV blocks', age: REPORTED },
  cacheHitRate: { meaning: 'cache hits per lookup since the start', age: REPORTED },
  inFlight: { meaning: 'requests placed there and not finished', age: OWN },
  ongoingTokens: { meaning: 'input tokens of the requests in flight', age: OWN },
  pendingPrefillTokens: { meaning: 'uncached input tokens of requests without a first token', age: OWN },
  ongoingDecodeTokens: { meaning: 'input tokens of requests that have their first token', age: OWN },
  indexedBlocks: { meaning: 'prompt blocks that the router remembers to have sent there', age: OWN },
  prefixIndex: { meaning: 'leading prompt blocks that the router sent there before', age: OWN },
  replicaCache: { meaning: 'leading prompt blocks in its real cache', age: 'up to `--cache-signal-delay`' },
  body: { meaning: 'the request body; in a simulation, a key for the beginning of its prompt', age: REQUEST },
  prediction: {
    meaning: 'predicted times of the request, from the latency profile of the replica',
    age: `${OWN}; the used share of the KV cache ${REPORTED}`,
  },
  truth: { meaning: 'the true times of the request on every replica', age: 'simulated' },
  contentKey: { meaning: 'a key for the beginning of the prompt', age: REQUEST },
};

export function readsTable(signals: readonly Signal[]): string {
  if (signals.length === 0) return 'Nothing of the fleet.\n';
  const rows = signals.map((signal) => [code(signal), SIGNAL_FACTS[signal].meaning, SIGNAL_FACTS[signal].age]);
  return markdownTable([['signal', 'meaning', 'how old it can be'], ...rows]);
}
