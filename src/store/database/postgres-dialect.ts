import type { Socket } from 'node:net';
import { type Dialect, PostgresDialect } from 'kysely';
import type { PoolClient } from 'pg';
import { fullStore, lockedStore, missingStore, storeFailed, storePermission, unreachableStore } from './errors.js';
import { PatientClient, type QueryPatience } from './patient-client.js';
import type { StoreAddress } from './store-address.js';
import { storeDialect } from './store-driver.js';

/** Object ids of PostgreSQL's types. */
const INT8 = 20;

const CONNECT_TIMEOUT_MS = 5000;
const MOST_CONNECTIONS = 4;
/** How long a server may take to close its side of connections that are not needed any more. */
const CLOSE_MS = 2000;

/** PostgreSQL through pg. Whole numbers come back as numbers: none exceeds 2^53. */
export async function postgresDialect(
  { url, shown }: StoreAddress & { kind: 'postgres' },
  patience: QueryPatience,
): Promise<Dialect> {
  const { default: pg } = await import('pg');
  const dialect = new PostgresDialect({
    pool: async () => {
      const clients = new Set<PoolClient>();
      const pool = new pg.Pool({
        connectionString: url,
        application_name: 'twinyard',
        max: MOST_CONNECTIONS,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        keepAlive: true,
        types: {
          getTypeParser: (oid: number, format?: 'text' | 'binary') =>
            oid === INT8 ? Number : (pg.types.getTypeParser(oid, format as 'text') as (text: string) => unknown),
        },
      });
      // A broken idle connection fails on its next use; without a listener the event would end the process.
      pool.on('error', () => {});
      pool.on('connect', (client) => {
        clients.add(client);
        client.on('error', () => {});
      });
      pool.on('remove', (client) => clients.delete(client));
      return {
        connect: async () => new PatientClient(await pool.connect(), patience),
        async end() {
          // What a server that is away never acknowledges would keep the process.
          setTimeout(() => clients.forEach(cut), CLOSE_MS).unref();
          await pool.end();
        },
      };
    },
  });
  return storeDialect(dialect, {
    begin: 'begin',
    // PostgreSQL waits for the lock itself, without blocking this thread.
    lockWaitMs: 0,
    isBusy: () => false,
    translate: (error) => postgresError(error, shown),
  });
}

const cut = (client: PoolClient) =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();

/** Codes of a server that is unavailable or shutting down. */
const GONE = /^(E[A-Z]+|08...|57P0[1-4]|53300)$/;

export function postgresError(error: unknown, shown: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as { code?: unknown }).code?.toString() ?? '';
  if (GONE.test(code)) return unreachableStore(shown, /^E/.test(code) ? code : error.message);
  if (code === '28P01' || code === '28000') return storePermission(shown, 'refuses this user or password');
  if (code === '42501' || code === '3F000') return storePermission(shown, error.message);
  if (code === '3D000') return missingStore(shown, 'has no such database');
  if (code === '53100') return fullStore(shown, error.message);
  if (code === '55P03') return lockedStore(shown);
  if (/^[0-9A-Z]{5}$/.test(code)) return storeFailed(shown, error.message);
  // pg's own complaints about a connection carry no code.
  return /connect|terminated|timeout|not queryable/i.test(error.message)
    ? unreachableStore(shown, error.message)
    : error;
}
