const BUCKETS = 10;
/** Fewer requests than these in a window say nothing about their share. */
const LEAST_REQUESTS = 10;

/** The share of failed requests within a sliding window, in a fixed amount of memory. */
export class FailureShare {
  readonly #requests = new Int32Array(BUCKETS);
  readonly #failures = new Int32Array(BUCKETS);
  /** The bucket counted in last, numbered from time 0. */
  #last = 0;

  /** @param windowMs 0: nothing is counted */
  count(isFailure: boolean, nowMs: number, windowMs: number): void {
    if (windowMs === 0) return;
    const bucket = Math.floor((nowMs * BUCKETS) / windowMs);
    if (bucket !== this.#last) this.#advance(bucket);
    this.#requests[bucket % BUCKETS]!++;
    if (isFailure) this.#failures[bucket % BUCKETS]!++;
  }

  /** Whether the share of failures, as of the last request counted, is at least this. */
  reaches(share: number): boolean {
    let requests = 0;
    let failures = 0;
    for (let i = 0; i < BUCKETS; i++) {
      requests += this.#requests[i]!;
      failures += this.#failures[i]!;
    }
    return requests >= LEAST_REQUESTS && failures >= share * requests;
  }

  clear(): void {
    this.#requests.fill(0);
    this.#failures.fill(0);
  }

  #advance(bucket: number): void {
    const passed = bucket - this.#last;
    // A reload may change the length of the window, and with it the number of the present bucket.
    if (passed < 0 || passed >= BUCKETS) this.clear();
    else {
      for (let i = this.#last + 1; i <= bucket; i++) {
        this.#requests[i % BUCKETS] = 0;
        this.#failures[i % BUCKETS] = 0;
      }
    }
    this.#last = bucket;
  }
}
