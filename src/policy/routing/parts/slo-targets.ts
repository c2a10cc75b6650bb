import { above, field, map, section } from '../../../schema/fields.js';
import type { RequestFeatures } from '../../request-features.js';

/** An hour: a target beyond it is a mistake. */
export const MOST_SLO_MS = 3_600_000;

/** The option with the targets of SLO classes. */
export const sloTargetsOption = field(
  map(
    'classes',
    section('targets', {
      ttft_ms: field(above(0, MOST_SLO_MS), { help: 'time to first token' }),
      tpot_ms: field(above(0, MOST_SLO_MS), { help: 'time per further token' }),
    }),
  ),
  { default: {}, help: 'targets of SLO classes in milliseconds; targets that a request sets itself come first' },
);

export type SloTargetsByClass = Readonly<
  Record<string, { ttft_ms?: number | undefined; tpot_ms?: number | undefined }>
>;

/** The targets of the present request: its own, else those of its class. */
export class SloTargets {
  /** Infinity for none. */
  ttftUs = Number.POSITIVE_INFINITY;
  tpotUs = Number.POSITIVE_INFINITY;
  readonly #classes: ReadonlyMap<string, { ttft_ms?: number | undefined; tpot_ms?: number | undefined }>;

  constructor(classes: SloTargetsByClass) {
    this.#classes = new Map(Object.entries(classes));
  }

  get isEmpty(): boolean {
    return this.ttftUs === Number.POSITIVE_INFINITY && this.tpotUs === Number.POSITIVE_INFINITY;
  }

  look({ sloClass, sloTpotUs, sloTtftUs }: RequestFeatures): void {
    const own = this.#classes.size === 0 ? undefined : this.#classes.get(sloClass);
    const ttftUs = sloTtftUs > 0 ? sloTtftUs : (own?.ttft_ms ?? 0) * 1000;
    const tpotUs = sloTpotUs > 0 ? sloTpotUs : (own?.tpot_ms ?? 0) * 1000;
    this.ttftUs = ttftUs > 0 ? ttftUs : Number.POSITIVE_INFINITY;
    this.tpotUs = tpotUs > 0 ? tpotUs : Number.POSITIVE_INFINITY;
  }
}
