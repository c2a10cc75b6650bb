import { pathOf } from '../../protocol/endpoints.js';
import type { FinishedRequest } from '../request/request-record.js';

/** Control characters that JSON leaves as they are: some readers of lines, and terminals, do not. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * One line of JSON per request. It contains only what the gateway recorded of the request: no prompt, no header and no
 * key, except for the request id, which is the client's if it sent one.
 */
export class AccessLog {
  readonly #lines: { write(line: string): void };
  readonly #epochUs: number;
  readonly #iso = new IsoTime();

  /** @param epochUs the beginning of the gateway's clock, since 1970 */
  constructor(lines: { write(line: string): void }, epochUs: number) {
    this.#lines = lines;
    this.#epochUs = epochUs;
  }

  /** @param client its address */
  ended(request: FinishedRequest, client: string): void {
    const { arrivedUs, firstTokenUs, queuedUs } = request;
    this.#write({
      time: this.#time(arrivedUs),
      id: request.id,
      client: orNull(client),
      method: request.method,
      path: pathOf(request.kind),
      endpoint: request.endpoint.name,
      model: request.model,
      key: orNull(request.keyId),
      tenant: orNull(request.tenant),
      status: request.status,
      outcome: request.outcome,
      cause: orNull(request.cause),
      replica: orNull(request.replicaId),
      attempts: request.attempts,
      policy: orNull(request.policy),
      rule: orNull(request.rule),
      streamed: request.isStreamed,
      input_tokens: request.inputTokens,
      cached_tokens: request.cachedTokens,
      output_tokens: request.outputTokens,
      reasoning_tokens: request.reasoningTokens,
      metered: request.isMetered,
      queue_ms: queuedUs < 0 ? null : queuedUs / 1000,
      ttft_ms: firstTokenUs < 0 ? null : (firstTokenUs - arrivedUs) / 1000,
      duration_ms: (request.endedUs - arrivedUs) / 1000,
    });
  }

  /**
   * A request that reached no endpoint. Its key and model are not known for sure, so they are not logged.
   * @param cause a constant
   */
  refused(id: string, status: number, cause: string, client: string, atUs: number): void {
    this.#write({ time: this.#time(atUs), id, client: orNull(client), status, outcome: 'refused', cause });
  }

  #time(us: number): string {
    return this.#iso.text((this.#epochUs + us) / 1000);
  }

  #write(line: object): void {
    this.#lines.write(JSON.stringify(line).replace(UNSAFE, escaped));
  }
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Times as ISO 8601 in UTC. Within one second only the milliseconds are formatted again. */
export class IsoTime {
  #second = Number.NaN;
  #prefix = '';

  /** @param ms since 1970 */
  text(ms: number): string {
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#prefix = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    }
    return `${this.#prefix}${String(Math.floor(ms - second * 1000)).padStart(3, '0')}Z`;
  }
}
