import { POSTGRES_PROGRAMS, startPostgres } from '../../src/store/postgres.fixture.js';
import { BenchTable } from '../bench-table.js';
import { scaleRows } from './scale-rows.js';

/** The control plane at scale: 10,000 endpoints over each store, and documents that take long to read. */
const table = new BenchTable();
await scaleRows(table, 'SQLite', null);
if (POSTGRES_PROGRAMS === null) table.report('PostgreSQL is not installed here', '', '', null);
else {
  const server = await startPostgres();
  try {
    await scaleRows(table, 'PostgreSQL', await server.freshUrl());
  } finally {
    await server.stop();
  }
}
table.print();
