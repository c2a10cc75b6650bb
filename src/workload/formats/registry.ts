import { azure } from './azure.js';
import { bailian } from './bailian/bailian.js';
import { burstgpt } from './burstgpt.js';
import type { TraceFormat } from './format.js';
import { mooncake } from './mooncake/mooncake.js';
import { otel } from './otel/otel.js';
import { parquet } from './parquet/parquet.js';
import { traceV2 } from './trace-v2.js';
import { traffic } from './traffic/traffic.js';

/** Every kind of trace file that is read: a new one is a file and a line here. */
export const TRACE_FORMATS: readonly TraceFormat[] = [
  traceV2,
  traffic,
  mooncake,
  bailian,
  azure,
  burstgpt,
  otel,
  parquet,
];
