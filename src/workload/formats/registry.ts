import { azure } from './azure.js';
import { bailian } from './bailian.js';
import { burstgpt } from './burstgpt.js';
import type { TraceFormat } from './format.js';
import { mooncake } from './mooncake.js';
import { otel } from './otel.js';
import { parquet } from './parquet.js';
import { traceV2 } from './trace-v2.js';
import { traffic } from './traffic.js';

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
