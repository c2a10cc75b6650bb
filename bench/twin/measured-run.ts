import { measuredMetrics as measuredOf } from '../../src/twin/whatif/baseline.js';
import { readRecordedFleet } from '../../src/twin/whatif/recorded-fleet.js';
import type { MetricRow } from '../../src/twin/whatif/recorded-metrics.js';
import type { WhatIfQuestion } from '../../src/twin/whatif/whatif-question.js';

/** What a recording measured. */
export async function measuredMetrics(recording: string): Promise<MetricRow> {
  return measuredOf(await readRecordedFleet({ recording } as WhatIfQuestion));
}
