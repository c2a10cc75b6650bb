import { sloPriorities } from '../../src/policy/slo-classes.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import { Replica } from '../../src/replica/replica.js';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import { RequestOutcomes } from '../../src/replica/request-outcomes.js';
import { arrivalOrder } from '../../src/workload/arrival-order.js';
import { PromptKeys } from '../../src/workload/prompt-keys.js';
import type { RequestTable } from '../../src/workload/request-table.js';

/** One replica with nothing around it: requests go straight in at their arrival times. */
export function loneReplica(config: ReplicaModelConfig, table: RequestTable, latency: LatencyModel) {
  const outcomes = new RequestOutcomes(table.count);
  const keys = new PromptKeys(table, config.blockSize);
  const priorities = sloPriorities();
  const urgency = (row: number) =>
    priorities.maxPriority - priorities.priorityOf(table.sloClasses.name(table.sloClass[row]!));
  const events = { firstToken: () => {}, left: () => {} };
  const replica = new Replica(config, latency, { table, outcomes, keys, urgency }, events, Number.POSITIVE_INFINITY);
  const arrivals = arrivalOrder(table);
  return {
    replica,
    outcomes,
    /** Runs to the end; `look` is called after every moment at which something happened. */
    run(look: () => void = () => {}): void {
      let next = 0;
      for (;;) {
        const arrivalUs = next < arrivals.length ? table.arrivalUs[arrivals[next]!]! : Number.POSITIVE_INFINITY;
        if (arrivalUs === Number.POSITIVE_INFINITY && replica.nextUs === Number.POSITIVE_INFINITY) return;
        if (arrivalUs <= replica.nextUs) replica.enqueue(arrivals[next++]!, arrivalUs);
        else replica.runNext();
        look();
      }
    },
  };
}
