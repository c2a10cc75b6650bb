/** The headers of an answer by lower-case name. */
export class AnswerHeaders {
  readonly #headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(headers: Readonly<Record<string, string | string[] | undefined>>) {
    this.#headers = headers;
  }

  text(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** A whole number, or undefined. */
  count(name: string): number | undefined {
    const value = Number(this.text(name) || Number.NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }
}
