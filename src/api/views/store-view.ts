import * as v from 'valibot';
import { section } from '../../schema/fields.js';
import { described, naturalNumber, nullable, numeric, string } from './parts.js';

export const STORE_HEALTH = section('StoreHealth', {
  kind: described(v.picklist(['sqlite', 'postgres']), 'kind of database'),
  address: described(string, 'its address, without the password'),
  version: described(nullable(naturalNumber), 'version of its tables; null where it does not respond'),
  latency_ms: described(nullable(numeric), 'how long a small query took, in milliseconds'),
  bytes: described(nullable(naturalNumber), 'size of the database'),
  problem: described(nullable(string), 'why it does not respond; null where it does'),
});
