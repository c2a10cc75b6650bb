import type { RandomStream } from '../../kernel/random-stream.js';
import type { RoutingPicker } from '../contract.js';
import type { FleetView } from '../fleet-view.js';
import type { PickState } from '../pick-state.js';
import type { RequestFeatures } from '../request-features.js';

/** Makes a pick again, from the state that it was made from, as often as needed: each call gives the same choice for the same inputs. */
export class Repicker {
  readonly #picker: RoutingPicker;
  readonly #random: RandomStream;

  /** @param picker serves no requests; `random` is its stream */
  constructor(
    picker: RoutingPicker,
    random: RandomStream,
    /** Fleets have at most so many. */
    readonly replicas: number,
  ) {
    this.#picker = picker;
    this.#random = random;
  }

  /** Whether the policy may refuse a request that replicas could take. */
  get mayRefuse(): boolean {
    return this.#picker.refusal !== undefined;
  }

  pick(request: RequestFeatures, view: FleetView, state: PickState): number {
    this.#random.restore(state.random);
    this.#picker.restore?.(state, request, view);
    return this.#picker.pick(request, view);
  }
}
