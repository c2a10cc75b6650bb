/** The headers of a response by lower-case name. */
export class ResponseHeaders {
  readonly #headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(headers: Readonly<Record<string, string | string[] | undefined>>) {
    this.#headers = headers;
  }

  text(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /**
   * The ETag of a file without quotes. That of a large file is its SHA-256; others are opaque.
   */
  get tag(): string | null {
    const etag = this.text('x-linked-etag') ?? this.text('etag') ?? '';
    return etag === '' ? null : etag.replace(/^W\//, '').replaceAll('"', '');
  }

  /** A non-negative integer, or undefined. */
  count(name: string): number | undefined {
    const value = Number(this.text(name) || Number.NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }
}
