import type { PostgresPoolClient } from 'kysely';
import type { PoolClient, QueryConfig } from 'pg';

/** How long queries may take from now on; null for any time. */
export interface QueryPatience {
  queryMs: number | null;
}

/**
 * A connection whose server may vanish without a word, as when a network drops packets: a query that has no response in time fails,
 * and the connection is closed rather than used again.
 */
export class PatientClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #patience: QueryPatience;
  #isSilent = false;

  constructor(client: PoolClient, patience: QueryPatience) {
    this.#client = client;
    this.#patience = patience;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's own signature has a second form, for cursors, which are not used here
  query(text: any, values: readonly unknown[] = []): any {
    return this.#respond(text, [...values]);
  }

  async #respond(text: string, values: unknown[]): Promise<unknown> {
    // The end of a transaction would wait behind the query that has no response.
    if (this.#isSilent) throw new Error('connection timeout: an earlier query had no response');
    const { queryMs } = this.#patience;
    if (queryMs === null) return this.#client.query(text, values);
    try {
      return await this.#client.query({ text, values, query_timeout: queryMs } as QueryConfig);
    } catch (error) {
      this.#isSilent = (error as Error).message === 'Query read timeout';
      throw error;
    }
  }

  release(): void {
    this.#client.release(this.#isSilent);
  }
}
