import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';

const LONGEST_PAUSE_MS = 20;

export interface DriverTraits {
  /** How a transaction begins that means to write. */
  readonly begin: string;
  /** How long to wait for another process that has the store for itself. */
  readonly lockWaitMs: number;
  /** Whether this refusal passes by itself and left everything as it was. */
  isBusy(error: unknown): boolean;
  /** The error as the store's callers get it. */
  translate(error: unknown): unknown;
}

/** A dialect with the driver below around its own. */
export function storeDialect(dialect: Dialect, traits: DriverTraits): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => new StoreDriver(dialect.createDriver(), traits),
  };
}

/**
 * A database driver whose errors are the store's, and who waits for another process without stopping this one: SQLite's
 * own waiting would stand on the thread that serves requests.
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

  /** Does the work, again and again while somebody else is in the way; then fails as the store fails. */
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

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.driver.translated(async () => this.inner.executeQuery<Row>(query));
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.inner.streamQuery<Row>(query, chunkSize);
  }
}
