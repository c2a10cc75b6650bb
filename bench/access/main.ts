import { BenchTable } from '../bench-table.js';
import { keyChecks } from './key-checks.js';
import { keyRefresh } from './key-refresh.js';
import { reservations } from './reservations.js';

/** The cost of keys and limits: for a request with a key, and for a gateway that refreshes them. */
const table = new BenchTable();
await keyChecks(table);
await reservations(table);
await keyRefresh(table);
table.print();
