import { type RequestOutcomes, STATUSES } from '../../replica/request-outcomes.js';
import { type RequestTable, requestId } from '../../workload/request-table.js';
import type { RequestResult } from '../result-document.js';
import { className } from './class-metrics.js';
import { itlMeanUs } from './request-sample.js';

const orNull = (value: number) => (Number.isNaN(value) ? null : value);

/** Every request with its outcome, in the order given. @param served the model of requests that name none */
export function requestResults(
  table: RequestTable,
  outcomes: RequestOutcomes,
  rows: ArrayLike<number>,
  served: string,
): RequestResult[] {
  return Array.from(rows, (row) => ({
    request_id: requestId(table, row),
    instance: outcomes.instance[row]! < 0 ? null : `instance_${outcomes.instance[row]!}`,
    status: STATUSES[outcomes.status[row]!]!,
    arrival_us: table.arrivalUs[row]!,
    scheduling_delay_us: orNull(outcomes.schedulingDelayUs[row]!),
    ttft_us: orNull(outcomes.ttftUs[row]!),
    itl_mean_us: orNull(itlMeanUs(outcomes, row)),
    e2e_us: orNull(outcomes.e2eUs[row]!),
    input_tokens: table.inputTokens[row]!,
    output_tokens: table.outputTokens[row]!,
    slo_class: className(table, table.sloClass[row]!),
    tenant: table.tenants.name(table.tenant[row]!) || null,
    session: table.sessions.name(table.session[row]!) || null,
    round: table.session[row] === 0 ? null : table.round[row]!,
    model: table.models.name(table.model[row]!) || served,
    gateway_wait_us: orNull(outcomes.gatewayWaitUs?.[row] ?? Number.NaN),
    ...(outcomes.clientWaitUs === null ? {} : { client_wait_us: outcomes.clientWaitUs[row]! }),
  }));
}
