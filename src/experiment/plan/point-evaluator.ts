import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { fleetSeats } from '../../simulator/fleet/fleet-replicas.js';
import type { LatencyMeasure } from '../metrics.js';
import type { SimulateRuns } from '../run-experiment.js';
import type { RunSummary } from '../runs/run-summary.js';
import type { SteadyState } from '../runs/steady-state.js';
import type { LoadSource } from './load-source.js';
import { type StepTimeError, withModelError } from './model-error.js';
import { latencyOf, type PlanPoint, planPoint } from './plan-point.js';
import { withReplicas } from './planned-fleet.js';
import type { Slo } from './slo.js';
import { enoughRequests, stationarity } from './stationarity.js';

/** What the points of a plan share. */
export interface EvaluationSettings {
  slos: readonly Slo[];
  /** Those of the SLOs, and those of the table. */
  measures: readonly LatencyMeasure[];
  /** The same for every point: common random numbers. */
  seeds: readonly number[];
  /** Requests of a run: at least, and at most. */
  requests: number;
  mostRequests: number;
}

/** Which point: a fleet, a load, and whether steps take as long or as short as the model's error allows. */
export interface PointAt {
  replicas: number;
  factor: number;
  error?: 1 | -1;
}

/** A first seed this far from an SLO decides alone: in half-widths of its interval, and as a share of the SLO. */
const CLEAR_NOISE = 3;
const CLEAR_SHARE = 0.1;

/** Evaluates fleets and loads of one candidate. Every point is evaluated once. */
export class PointEvaluator {
  readonly #points = new Map<string, Promise<PlanPoint>>();
  readonly #runs = new Map<string, Promise<SteadyState>>();
  #idle: Promise<SteadyState> | undefined;

  constructor(
    readonly config: ClusterConfig,
    readonly load: LoadSource,
    readonly settings: EvaluationSettings,
    readonly modelError: StepTimeError | null,
    readonly simulate: SimulateRuns,
  ) {}

  /** With all seeds. */
  whole(at: PointAt): Promise<PlanPoint> {
    return this.#once(at, 'whole');
  }

  /** With as many seeds as it takes to say whether the SLOs are kept. */
  async keeps(at: PointAt): Promise<PlanPoint> {
    return this.#points.get(keyOf(at, 'whole')) ?? this.#once(at, 'quick');
  }

  #once(at: PointAt, effort: 'whole' | 'quick'): Promise<PlanPoint> {
    const key = keyOf(at, effort);
    const known = this.#points.get(key);
    if (known !== undefined) return known;
    const point = effort === 'whole' ? this.#evaluate(at, this.settings.seeds) : this.#quick(at);
    this.#points.set(key, point);
    return point;
  }

  async #quick(at: PointAt): Promise<PlanPoint> {
    const { seeds } = this.settings;
    if (seeds.length === 1) return this.whole(at);
    const first = await this.#evaluate(at, seeds.slice(0, 1), true);
    return this.#isClear(first) ? first : this.whole(at);
  }

  /** All SLOs are kept, or one is missed, by far more than seeds differ. */
  #isClear(point: PlanPoint): boolean {
    if (point.why === 'lost') return true;
    const margins = this.settings.slos.map((slo) => {
      const { ms, low, high } = latencyOf(point, slo);
      if (ms === null) return Number.NEGATIVE_INFINITY;
      const noise = low === null || high === null ? ms : (high - low) / 2;
      return (slo.limitMs - ms) / Math.max(CLEAR_NOISE * noise, CLEAR_SHARE * slo.limitMs);
    });
    return point.kept ? margins.every((margin) => margin > 1) : margins.some((margin) => margin < -1);
  }

  /**
   * A run that keeps the SLOs is lengthened until it is long enough, and until its backlog stops growing or lasts.
   * @param isFirstLook a backlog that grows is left to all seeds: together they see it sooner
   */
  async #evaluate(at: PointAt, seeds: readonly number[], isFirstLook = false): Promise<PlanPoint> {
    const { slos, measures, mostRequests } = this.settings;
    const rate = at.factor * this.load.baseRate;
    const usual = Math.max(this.settings.requests, enoughRequests(rate, (await this.#idleRun()).e2eP50S));
    for (let wanted = Math.min(mostRequests, usual); ; ) {
      const requests = this.load.length(wanted);
      const isRecorded = !this.load.variesWithSeed(requests);
      const runs = await this.#run(at, requests, isRecorded ? seeds.slice(0, 1) : seeds);
      const point = planPoint({ ...at, rate, requests }, runs, measures, slos, isRecorded);
      const misses = slos.some((slo) => (latencyOf(point, slo).ms ?? Number.POSITIVE_INFINITY) > slo.limitMs);
      if (misses || point.why === 'lost' || requests >= mostRequests) return point;
      const { isGrowing, lengthFactor } = stationarity(runs, isRecorded);
      if (isGrowing ? isFirstLook : lengthFactor <= 1) return point;
      wanted = Math.min(mostRequests, Math.ceil(requests * (isGrowing ? Math.max(2, lengthFactor) : lengthFactor)));
    }
  }

  /** What a first look has simulated is not simulated again with the other seeds. */
  async #run(at: PointAt, requests: number, seeds: readonly number[]): Promise<SteadyState[]> {
    const key = (seed: number) => `${keyOf(at, String(requests))}/${seed}`;
    const missing = seeds.filter((seed) => !this.#runs.has(key(seed)));
    if (missing.length > 0) {
      const found = this.#simulated(at, requests, missing);
      for (const [i, seed] of missing.entries())
        this.#runs.set(
          key(seed),
          found.then((runs) => runs[i]!),
        );
    }
    return Promise.all(seeds.map((seed) => this.#runs.get(key(seed))!));
  }

  async #simulated(
    { replicas, factor, error }: PointAt,
    requests: number,
    seeds: readonly number[],
  ): Promise<SteadyState[]> {
    const { measures } = this.settings;
    const fleet = withReplicas(this.config, replicas);
    const config = error === undefined ? fleet : withModelError(fleet, this.modelError!, error);
    const workload = this.load.recipe(factor, requests);
    const summaries = await this.simulate(
      seeds.map((seed) => ({ config: { ...config, seed }, workload, steady: measures })),
    );
    return summaries.map(({ steady }) => steady!);
  }

  /** One replica that serves one request at a time: no fleet is quicker. A fleet of several kinds is taken as it is. */
  async idle(): Promise<PlanPoint> {
    const { measures, slos } = this.settings;
    const factor = IDLE_RATE / this.load.baseRate;
    return planPoint(
      { replicas: this.#lone.instances, factor, rate: IDLE_RATE, requests: IDLE_REQUESTS },
      [await this.#idleRun()],
      measures,
      slos,
    );
  }

  #idleRun(): Promise<SteadyState> {
    this.#idle ??= this.#alone(IDLE_RATE / this.load.baseRate, IDLE_REQUESTS).then(({ steady }) => steady!);
    return this.#idle;
  }

  /** About how many requests per second a replica finishes that always has enough to do: where a search begins. */
  async capacity(): Promise<number> {
    const { metrics } = await this.#alone(OVERLOAD_RATE / this.load.baseRate, WAVES * fleetSeats(this.#lone));
    return metrics.responses_per_sec! / this.#lone.instances;
  }

  get #lone(): ClusterConfig {
    return this.config.fleet === undefined ? withReplicas(this.config, 1) : this.config;
  }

  async #alone(factor: number, requests: number): Promise<RunSummary> {
    const { measures, seeds } = this.settings;
    const config = { ...this.#lone, seed: seeds[0]! };
    const [summary] = await this.simulate([{ config, workload: this.load.sample(factor, requests), steady: measures }]);
    return summary!;
  }
}

/** Requests per second that meet no other, and how many of them. */
const IDLE_RATE = 0.01;
const IDLE_REQUESTS = 400;
/** Requests per second that no replica keeps, and how many times they fill its batch. */
const OVERLOAD_RATE = 10_000;
const WAVES = 4;

function keyOf({ replicas, factor, error }: PointAt, effort: string): string {
  return `${replicas}/${factor}/${error ?? 0}/${effort}`;
}
