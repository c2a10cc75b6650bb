import { BenchTable } from '../bench-table.js';
import { keyChecks } from './key-checks.js';
import { keyRefresh } from './key-refresh.js';
import { reservations } from './reservations.js';

/** What keys and limits cost: for a request that brings one, and for a gateway that keeps up with their changes. */
const table = new BenchTable();
await keyChecks(table);
await reservations(table);
await keyRefresh(table);
table.print();
