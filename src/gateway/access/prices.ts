import type { Price } from '../config/gateway-config.js';

/** Dollars per million tokens are nano-dollars per thousandth of a token. */
const NANOS_PER_TOKEN = 1000;

/** The tokens used. Cached tokens are part of the input tokens. */
export interface UsedTokens {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

/** What tokens cost, in whole nano-dollars. A model without a price costs nothing. */
export class Prices {
  readonly #prices = new Map<string, Price>();

  constructor(prices: readonly Price[]) {
    for (const price of prices) this.#prices.set(price.model, price);
  }

  has(model: string): boolean {
    return this.#prices.has(model);
  }

  nanos(model: string, inputTokens: number, cachedTokens: number, outputTokens: number): number {
    const price = this.#prices.get(model);
    if (price === undefined) return 0;
    const { cachedInput, input, output } = price;
    const dollarsPerMillion = (inputTokens - cachedTokens) * input + cachedTokens * cachedInput + outputTokens * output;
    return Math.round(dollarsPerMillion * NANOS_PER_TOKEN);
  }
}
