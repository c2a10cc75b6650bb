import { STREAMED } from '../../../policy/host/first-byte-waits.js';
import { API_KINDS, type ApiKind } from '../../../protocol/endpoints.js';
import type { RequestFacts } from '../../request/request-facts.js';

type Working = Pick<RequestFacts, 'kind' | 'mostOutput' | 'streams'>;

const LIMITED = 1;
const UNLIMITED = 2;
const OTHER = new Map(Object.keys(API_KINDS).map((kind, index) => [kind as ApiKind, UNLIMITED + 1 + index]));
/** An output token takes about as long as a hundred tokens of a prompt. */
const OUTPUT_WEIGHT = 100;

/**
 * The kind of work before the first byte. A response that is not streamed begins when it is complete: how long that takes depends on
 * the output, and where that has no limit on the model alone.
 */
export function firstByteWork({ kind, mostOutput, streams }: Working): number {
  if (streams) return STREAMED;
  if (mostOutput === null) return UNLIMITED;
  return mostOutput > 0 ? LIMITED : OTHER.get(kind)!;
}

/** How much of it there is, in tokens of a prompt. @param pendingTokens not computed yet on the replica, its own included */
export function firstByteSize({ mostOutput, streams }: Working, pendingTokens: number): number {
  return pendingTokens + (streams ? 0 : OUTPUT_WEIGHT * (mostOutput ?? 0));
}
