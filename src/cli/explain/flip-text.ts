import type { FlipRecord } from '../../policy/flip/flip-record.js';

/** Signals whose names differ from the columns of the table. */
const WORDS: Record<string, string> = {
  kvUsed: 'KV cache in use',
  cacheHitRate: 'cache hit rate',
  freeBlocks: 'free KV blocks',
  inFlight: 'in flight',
  ongoingTokens: 'tokens in flight',
  pendingPrefillTokens: 'pending prefill tokens',
  ongoingDecodeTokens: 'tokens being decoded',
  indexedBlocks: 'blocks in the index',
  routedBlocks: 'prefix blocks',
  cachedBlocks: 'cached blocks',
  predictedTtftUs: 'predicted TTFT',
  predictedItlUs: 'predicted ITL',
  predictedPromptUs: 'predicted time of the prompt',
};

const SHARES = ['kvUsed', 'cacheHitRate'];

/** What would have flipped a decision, in words; null for a decision that cannot be repeated. @param isNotKept it is not known */
export function flipText(flip: FlipRecord | null, policy: string, isNotKept = false): string {
  if (isNotKept) return 'not known: the gateway had no time to search it before the request left its memory';
  if (flip === null) return 'unknown: the decision cannot be repeated';
  const { bounds, change, eligible, exhaustive, replicas } = flip;
  const searched = replicas < eligible ? `${replicas} of ${eligible} replicas` : '';
  if (change !== null) {
    const { chosen, from, replica, signal, to } = change;
    const text = `${WORDS[signal] ?? signal} of ${replica} ${shown(signal, to)} instead of ${shown(signal, from)}: ${chosen ?? 'refused'}`;
    return searched === '' ? text : `${text} (smallest change found in ${searched})`;
  }
  if (eligible === 0) return 'nothing: no replica was a candidate';
  if (eligible < 2) return 'nothing: no other replica was a candidate';
  const tried = Object.entries(bounds).map(
    ([signal, [least, greatest]]) => `${WORDS[signal] ?? signal} ${shown(signal, least)} to ${shown(signal, greatest)}`,
  );
  if (tried.length === 0) return `none within bounds: ${policy} reads no signal of replicas`;
  const how = [...tried, ...(searched === '' ? [] : [searched]), ...(exhaustive ? [] : ['some values'])];
  return `none within bounds (${how.join(', ')})`;
}

function shown(signal: string, value: number): string {
  if (signal.endsWith('Us')) return `${Number((value / 1000).toFixed(1))} ms`;
  return SHARES.includes(signal) ? `${Number((value * 100).toFixed(1))} %` : String(value);
}
