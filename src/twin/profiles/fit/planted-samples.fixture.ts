import type { SampleColumns } from '../../../gateway/prediction/request-samples.js';
import { RequestSamples } from '../../../gateway/prediction/request-samples.js';
import { ENGINE, plantedTrace } from '../../../observe/fit/planted.fixture.js';
import type { EngineSettings } from '../../../observe/fit/traces/observed-trace.js';
import type { LatencyProfile } from '../../../replica/latency/profile.js';
import type { RequestTable } from '../../../workload/request-table.js';

/** What requests on engines with these costs, one for each table, show of them. */
export function plantedSamples(
  tables: readonly RequestTable[],
  costs: Pick<LatencyProfile, 'step' | 'request'>,
  engine: EngineSettings = ENGINE,
): SampleColumns {
  const samples = new RequestSamples();
  for (const [i, table] of tables.entries()) {
    const { e2eUs, ttftUs } = plantedTrace(`r${i}`, table, costs, { engine });
    for (let row = 0; row < table.count; row++) {
      const dispatchedUs = table.arrivalUs[row]!;
      samples.add(
        {
          ...{ replicaId: `r${i}`, outcome: 'ok', isStreamed: true, isMetered: true, cachedTokens: 0, dispatchedUs },
          ...{ inputTokens: table.inputTokens[row]!, outputTokens: table.outputTokens[row]! },
          ...{ firstTokenUs: dispatchedUs + ttftUs[row]!, endedUs: dispatchedUs + e2eUs[row]! },
        },
        0,
      );
    }
  }
  return samples.columns();
}
