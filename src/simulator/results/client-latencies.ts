import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import type { ClientNetwork, RequestTable } from '../../workload/request-table.js';
import type { ClientMetrics } from '../result-document.js';
import { spreadKeys, spreadOfSorted } from './latency-spread.js';

/** A token is about four characters of a byte each. */
const BITS_PER_TOKEN = 32;

/**
 * Latencies as clients see them: the cluster's, plus the round trip, plus the transfer time of the prompt and, for the
 * end, of the response. They do not affect the simulation. Undefined when no client is remote.
 */
export function clientLatencies(table: RequestTable, outcomes: RequestOutcomes): ClientMetrics | undefined {
  if (!table.networks.some((network) => network !== undefined)) return undefined;
  const values = new Float64Array(table.count);
  const spread = (column: Float64Array, responses: boolean) => {
    let n = 0;
    for (let row = 0; row < table.count; row++) {
      const us = column[row]!;
      if (Number.isNaN(us)) continue;
      const tokens = table.inputTokens[row]! + (responses ? outcomes.producedTokens[row]! : 0);
      values[n++] = us + wayUs(table.networks[table.client[row]!], tokens);
    }
    return spreadOfSorted(values.subarray(0, n).sort());
  };
  return {
    ...spreadKeys('client_ttft', spread(outcomes.ttftUs, false)),
    ...spreadKeys('client_e2e', spread(outcomes.e2eUs, true)),
  };
}

function wayUs(network: ClientNetwork | undefined, tokens: number): number {
  if (network === undefined) return 0;
  const { bandwidthMbps, rttUs } = network;
  return rttUs + (bandwidthMbps > 0 ? (tokens * BITS_PER_TOKEN) / bandwidthMbps : 0);
}
