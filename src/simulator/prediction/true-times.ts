import { InputError } from '../../kernel/errors.js';
import type { LatencyPredictor } from '../../policy/latency-predictor.js';
import { Replica } from '../../replica/replica.js';
import type { ReplicaRequests } from '../../replica/replica-requests.js';
import { RequestOutcomes } from '../../replica/request-outcomes.js';
import type { FleetReplica } from '../fleet/fleet-replicas.js';

const NEVER = Number.POSITIVE_INFINITY;
/** Every alternative is simulated from the start of the run: beyond this, for hours. */
export const MOST_ORACLE_REQUESTS = 5000;

/**
 * What a request would take on a replica if it were placed there now and no other request came after it: that replica is simulated
 * again from the start of the run, with everything that was placed on it. Exact, and as slow as that: the time of a run grows with
 * the square of its requests.
 */
export class TrueTimes {
  /** The request that `look` has named. */
  #row = -1;
  #nowUs = 0;
  readonly #fleet: readonly Pick<FleetReplica, 'config' | 'scaled'>[];
  readonly #requests: ReplicaRequests;
  readonly #placed: { row: number; atUs: number }[][];
  /** By replica: the sum of the ends of all its requests, with the latest. */
  readonly #endsUs: Float64Array;
  readonly #alternatives: Alternative[];

  constructor(fleet: readonly Pick<FleetReplica, 'config' | 'scaled'>[], requests: ReplicaRequests) {
    const { count } = requests.table;
    if (count > MOST_ORACLE_REQUESTS) {
      const problem = `an oracle simulates every alternative from the start: ${count} requests are too many`;
      throw new InputError('ORACLE_TOO_LARGE', 'routing.options', problem, `give at most ${MOST_ORACLE_REQUESTS}`);
    }
    this.#fleet = fleet;
    this.#requests = requests;
    this.#placed = fleet.map(() => []);
    this.#endsUs = new Float64Array(fleet.length);
    this.#alternatives = fleet.map((_, i) => new Alternative(this, i));
  }

  predictorOf(replica: number): LatencyPredictor {
    return this.#alternatives[replica]!;
  }

  /** The next predictions are about this request. */
  look(row: number, nowUs: number): void {
    this.#row = row;
    this.#nowUs = nowUs;
    for (const alternative of this.#alternatives) alternative.isMeasured = false;
  }

  /** The request goes to this replica. */
  placed(row: number, replica: number): void {
    this.#endsUs[replica] = this.#alternatives[replica]!.endsUs;
    this.#placed[replica]!.push({ row, atUs: this.#nowUs });
  }

  measure(replica: number, into: Alternative): void {
    const { config, scaled } = this.#fleet[replica]!;
    const requests = this.#requests;
    const row = this.#row;
    const nowUs = this.#nowUs;
    let firstUs = NEVER;
    let endUs = NEVER;
    let endsUs = 0;
    const events = {
      firstToken: (one: number, atUs: number) => {
        if (one === row) firstUs = Math.min(firstUs, atUs);
      },
      left: (one: number, _: boolean, atUs: number) => {
        endsUs += atUs;
        if (one === row) endUs = atUs;
      },
    };
    const outcomes = new RequestOutcomes(requests.table.count);
    const engine = new Replica(config, scaled, { ...requests, outcomes }, events, NEVER);
    for (const { atUs, row: before } of this.#placed[replica]!) {
      engine.advance(atUs);
      engine.enqueue(before, atUs);
    }
    engine.advance(nowUs);
    engine.enqueue(row, nowUs);
    engine.advance(NEVER);
    const output = requests.table.outputTokens[row]!;
    into.endsUs = endsUs;
    into.ttftUs = Math.min(firstUs, endUs) - nowUs;
    into.itlUs = output > 1 && firstUs < NEVER ? (endUs - firstUs) / (output - 1) : 0;
    // Its own time, and by how much later all the others end.
    into.totalUs = endUs - nowUs + (endsUs - endUs - this.#endsUs[replica]!);
  }
}

/** The truth about one replica, where a prediction is expected. */
class Alternative implements LatencyPredictor {
  readonly isExact = true;
  ttftUs = 0;
  itlUs = 0;
  promptUs = 0;
  totalUs = 0;
  endsUs = 0;
  isMeasured = false;
  readonly #truth: TrueTimes;
  readonly #replica: number;

  constructor(truth: TrueTimes, replica: number) {
    this.#truth = truth;
    this.#replica = replica;
  }

  predict(): void {
    if (this.isMeasured) return;
    this.isMeasured = true;
    this.#truth.measure(this.#replica, this);
  }
}
