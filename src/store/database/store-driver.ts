import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { Turns } from '../../kernel/turns.js';

const LONGEST_PAUSE_MS = 20;

export interface DriverTraits {
  /** The statement that begins a writing transaction. */
  readonly begin: string;
  /** How long to wait for another process that has locked the store. */
  readonly lockWaitMs: number;
  /** Given where statements block this thread: many of them are spread over turns of the event loop. */
  readonly turns?: Turns;
  /** Whether the statement may be retried: the refusal is temporary, and nothing was changed. */
  isBusy(error: unknown): boolean;
  /** The error that callers of the store get. */
  translate(error: unknown): unknown;
}

/** The dialect with a StoreDriver around its own driver. */
export function storeDialect(dialect: Dialect, traits: DriverTraits): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => new StoreDriver(dialect.createDriver(), traits),
  };
}

/**
 * A database driver that throws the errors of the store and waits for other processes without blocking this one:
 * SQLite's own waiting blocks the thread that serves requests.
 */
class StoreDriver implements Driver {
  constructor(
    private readonly inner: Driver,
    private readonly traits: DriverTraits,
  ) {}

  init(): Promise<void> {
    return this.translated(() => this.inner.init());
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return new StoreConnection(await this.translated(() => this.inner.acquireConnection()), this);
  }

  async beginTransaction(connection: DatabaseConnection, _settings: TransactionSettings): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.traits.begin));
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.translated(() => this.inner.commitTransaction((connection as StoreConnection).inner));
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.translated(() => this.inner.rollbackTransaction((connection as StoreConnection).inner));
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.inner.releaseConnection((connection as StoreConnection).inner);
  }

  destroy(): Promise<void> {
    return this.inner.destroy();
  }

  /** Null when there is time left in this turn of the event loop. */
  turn(): Promise<void> | null {
    return this.traits.turns?.next() ?? null;
  }

  /** Retries the work while another process holds the lock, then throws the error of the store. */
  async translated<Result>(work: () => Promise<Result>): Promise<Result> {
    const giveUpAt = performance.now() + this.traits.lockWaitMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!this.traits.isBusy(error) || performance.now() > giveUpAt) throw this.traits.translate(error);
      }
      await sleep(pauseMs);
    }
  }
}

class StoreConnection implements DatabaseConnection {
  constructor(
    readonly inner: DatabaseConnection,
    private readonly driver: StoreDriver,
  ) {}

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    await this.driver.turn();
    return this.driver.translated(async () => this.inner.executeQuery<Row>(query));
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.inner.streamQuery<Row>(query, chunkSize);
  }
}
