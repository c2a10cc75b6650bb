import type { AwaitedWork } from '../../../policy/host/first-byte-waits.js';
import { API_KINDS, type ApiKind } from '../../../protocol/endpoints.js';
import type { RequestFacts } from '../../request/request-facts.js';

const STREAMED = 0;
/** Some engines hold a stream with tools back until they know whether it is a call. */
const STREAMED_WITH_TOOLS = 1;
const LIMITED = 2;
const UNLIMITED = 3;
const OTHER = new Map(Object.keys(API_KINDS).map((kind, index) => [kind as ApiKind, UNLIMITED + 1 + index]));
const KINDS = UNLIMITED + 1 + OTHER.size;
/** Models that are learned separately; further ones are learned together. */
const MOST_MODELS = 256;
/** An output token takes about as long as a hundred tokens of a prompt. */
const OUTPUT_WEIGHT = 100;

/**
 * The work before the first byte of a request, for each model of an endpoint. A response that is not streamed begins when it is
 * complete: how long that takes depends on the output, and where that has no limit on the model alone. The object itself is the
 * description of the request measured last.
 */
export class FirstByteWork implements AwaitedWork {
  kind = 0;
  size = 0;
  isStreamed = false;
  attempt = 0;
  readonly #models = new Map<string, number>();

  /** @param pendingTokens not computed yet on the replica, those of the request included */
  measure(facts: RequestFacts, pendingTokens: number, attempt: number): this {
    const kind = kindOf(facts);
    this.kind = this.#numberOf(facts.model) * KINDS + kind;
    this.size = pendingTokens + (kind === LIMITED ? OUTPUT_WEIGHT * facts.mostOutput! : 0);
    this.isStreamed = kind === STREAMED;
    this.attempt = attempt;
    return this;
  }

  #numberOf(model: string): number {
    const known = this.#models.get(model);
    if (known !== undefined) return known;
    const number = Math.min(this.#models.size, MOST_MODELS);
    if (number < MOST_MODELS) this.#models.set(model, number);
    return number;
  }
}

function kindOf({ body, kind, mostOutput, streams }: RequestFacts): number {
  if (streams) return body.has('tools') ? STREAMED_WITH_TOOLS : STREAMED;
  if (mostOutput === null) return UNLIMITED;
  return mostOutput > 0 ? LIMITED : OTHER.get(kind)!;
}
