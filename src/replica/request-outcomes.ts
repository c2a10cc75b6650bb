/** The state of a request, or how it ended. The values are the names in the result document. */
export const STATUSES = [
  'not_arrived',
  'in_pipeline',
  'queued',
  'running',
  'completed',
  'length_capped',
  'dropped',
  'timed_out',
  'rejected',
  'routing_rejected',
  'gateway_queued',
  'gateway_rejected',
  'gateway_shed',
  'gateway_expired',
] as const;

export type RequestStatus = (typeof STATUSES)[number];

/** Numbers of the statuses as the outcome column holds them. */
export const STATUS = Object.fromEntries(STATUSES.map((name, i) => [name, i])) as Record<RequestStatus, number>;

/** More replicas than this do not fit into two bytes. */
const MOST_NARROW = 2 ** 15 - 1;

/** What happened to each request: columns beside the RequestTable, same rows. NaN and -1 mean: never happened. */
export class RequestOutcomes {
  status: Uint8Array;
  /** As narrow as the cluster allows. */
  instance: Int16Array | Int32Array;
  schedulingDelayUs: Float64Array;
  ttftUs: Float64Array;
  /** Sum of the gaps between tokens, and how many output tokens came out. */
  itlSumUs: Float64Array;
  producedTokens: Int32Array;
  e2eUs: Float64Array;
  /** Time in the queue before routing, of requests that have left it; null where there is no such queue. */
  gatewayWaitUs: Float64Array | null = null;
  /** Time for which the client held requests back before it sent them; null where it has no cap on requests in flight. */
  clientWaitUs: Float64Array | null = null;

  constructor(rows: number, instances = 1) {
    this.status = new Uint8Array(rows);
    this.instance = (instances <= MOST_NARROW ? new Int16Array(rows) : new Int32Array(rows)).fill(-1);
    this.schedulingDelayUs = new Float64Array(rows).fill(Number.NaN);
    this.ttftUs = new Float64Array(rows).fill(Number.NaN);
    this.itlSumUs = new Float64Array(rows);
    this.producedTokens = new Int32Array(rows);
    this.e2eUs = new Float64Array(rows).fill(Number.NaN);
  }

  /** A request has its last token, or was cut off for its length. */
  complete(row: number, itlSumUs: number, producedTokens: number, afterLastUs: number, lengthCapped: boolean): void {
    this.itlSumUs[row] = itlSumUs;
    this.producedTokens[row] = producedTokens;
    this.e2eUs[row] = this.ttftUs[row]! + itlSumUs + afterLastUs;
    this.status[row] = lengthCapped ? STATUS.length_capped : STATUS.completed;
  }

  /** From now on there is a column for the time in the queue before routing. */
  recordGatewayWaits(): void {
    this.gatewayWaitUs = new Float64Array(this.status.length).fill(Number.NaN);
  }

  /** From now on there is a column for the time that the client holds requests back. */
  recordClientWaits(): void {
    this.clientWaitUs = new Float64Array(this.status.length);
  }

  /** Makes room for rows 0..rows-1. */
  reserve(rows: number): void {
    const before = this.status.length;
    if (rows <= before) return;
    const narrow = this.instance instanceof Int16Array;
    const grown = new RequestOutcomes(Math.max(rows, before * 2), narrow ? 1 : MOST_NARROW + 1);
    grown.status.set(this.status);
    grown.instance.set(this.instance);
    grown.schedulingDelayUs.set(this.schedulingDelayUs);
    grown.ttftUs.set(this.ttftUs);
    grown.itlSumUs.set(this.itlSumUs);
    grown.producedTokens.set(this.producedTokens);
    grown.e2eUs.set(this.e2eUs);
    if (this.gatewayWaitUs !== null) {
      grown.recordGatewayWaits();
      grown.gatewayWaitUs!.set(this.gatewayWaitUs);
    }
    if (this.clientWaitUs !== null) {
      grown.recordClientWaits();
      grown.clientWaitUs!.set(this.clientWaitUs);
    }
    Object.assign(this, grown);
  }
}
