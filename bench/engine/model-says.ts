import { Replica } from '../../src/replica/replica.js';
import { RequestOutcomes } from '../../src/replica/request-outcomes.js';
import { PromptKeys } from '../../src/workload/prompt-keys.js';
import { RequestTable } from '../../src/workload/request-table.js';
import { cluster } from '../simulator/scenario.js';

/** A request as the engine saw it come in. */
export interface Arrival {
  atUs: number;
  inputTokens: number;
  outputTokens: number;
}

/** Latencies in milliseconds, sorted. */
export interface Latencies {
  ttft: number[];
  itl: number[];
  e2e: number[];
}

/** The latencies that the simulator's replica has for the same arrivals. Prompts have nothing in common. */
export function modelSays(arrivals: readonly Arrival[]): Latencies {
  const { config, latency } = cluster(1, 'round-robin');
  const table = new RequestTable(arrivals.length);
  for (const { atUs, inputTokens, outputTokens } of arrivals) {
    const row = table.append();
    table.arrivalUs[row] = atUs;
    table.inputTokens[row] = inputTokens;
    table.outputTokens[row] = outputTokens;
  }
  const outcomes = new RequestOutcomes(table.count);
  const keys = new PromptKeys(table, config.replica.blockSize);
  const requests = { table, outcomes, keys, urgency: () => 0 };
  const events = { firstToken: () => {}, left: () => {} };
  const replica = new Replica(config.replica, latency, requests, events, Number.POSITIVE_INFINITY);
  for (let row = 0; row < table.count; row++) {
    replica.advance(table.arrivalUs[row]!);
    replica.enqueue(row, table.arrivalUs[row]!);
  }
  replica.advance(Number.POSITIVE_INFINITY);
  const gaps = replica.gapCounts();
  const sorted = (values: Float64Array) => Array.from(values, (us) => us / 1000).sort((a, b) => a - b);
  return {
    ttft: sorted(outcomes.ttftUs),
    itl: Array.from({ length: gaps.total }, (_, i) => (gaps.at(i) + latency.outputTokenUs) / 1000),
    e2e: sorted(outcomes.e2eUs),
  };
}
