import type { PreemptionPolicy } from './contract.js';

export const leastUrgent: PreemptionPolicy = {
  name: 'priority',
  summary: 'the least urgent request; among equals the latest arrival, then the one admitted last',
  takesLast: false,
  victim(batch, requests) {
    let victim = batch.size - 1;
    let urgency = requests.urgency(batch.row[batch.order[victim]!]!);
    let arrival = requests.table.arrivalUs[batch.row[batch.order[victim]!]!]!;
    for (let place = victim - 1; place >= 0; place--) {
      const row = batch.row[batch.order[place]!]!;
      const its = requests.urgency(row);
      const arrived = requests.table.arrivalUs[row]!;
      if (its > urgency || (its === urgency && arrived > arrival)) {
        victim = place;
        urgency = its;
        arrival = arrived;
      }
    }
    return victim;
  },
};
