import type { EngineSampler, FinishedRequest } from '../request/request-record.js';
import { DriftWatch } from './drift-watch.js';
import { ErrorWindow, PREDICTION_METRICS, type PredictionMetric } from './error-window.js';
import { ReplicaRatios } from './replica-ratios.js';
import { RequestSamples } from './request-samples.js';

const [TTFT, ITL, E2E] = [0, 1, 2];

/**
 * What the requests of one endpoint have shown of one engine: samples for a fit, and how far predictions were off. Called
 * when a request has ended, and allocates nothing then.
 */
export class EngineTraffic implements EngineSampler {
  readonly samples = new RequestSamples();
  readonly drift = new DriftWatch();
  readonly replicas = new ReplicaRatios();
  /** In the order of PREDICTION_METRICS. */
  readonly #errors = [new ErrorWindow(), new ErrorWindow(), new ErrorWindow()] as const;
  /** Predictions that were compared with what happened. */
  compared = 0;

  constructor(
    /** The full name: `workspace/name` where the control plane has declared it. */
    readonly endpoint: string,
    readonly engine: string,
  ) {}

  finished(request: FinishedRequest): void {
    this.samples.add(request, request.inFlightBefore);
    const { dispatchedUs, endedUs, firstTokenUs, outputTokens, predictedItlUs, predictedTtftUs } = request;
    if (request.outcome !== 'ok' || !request.isMetered || !(predictedTtftUs > 0)) return;
    const gaps = Math.max(0, outputTokens - 1);
    const predictedUs = predictedTtftUs + gaps * predictedItlUs;
    if (!request.isStreamed) {
      // Its end is all that is seen of it.
      if (!(predictedUs > 0) || endedUs <= dispatchedUs) return;
      this.compared++;
      this.#errors[E2E!]!.add(predictedUs / (endedUs - dispatchedUs) - 1);
      return;
    }
    if (firstTokenUs <= dispatchedUs) return;
    this.compared++;
    this.#compare(TTFT!, predictedTtftUs, firstTokenUs - dispatchedUs, endedUs);
    if (!(predictedItlUs > 0) || endedUs <= firstTokenUs) return;
    if (gaps > 0) {
      const itlUs = (endedUs - firstTokenUs) / gaps;
      this.#compare(ITL!, predictedItlUs, itlUs, endedUs);
      this.replicas.add(request.replicaId, predictedItlUs, itlUs);
    }
    this.#compare(E2E!, predictedUs, endedUs - dispatchedUs, endedUs);
  }

  errorsOf(metric: PredictionMetric): ErrorWindow {
    return this.#errors[PREDICTION_METRICS.indexOf(metric)]!;
  }

  /** Predictions come from another profile now. */
  restart(usual: DriftWatch['usual'] = null): void {
    for (const errors of this.#errors) errors.clear();
    this.replicas.clear();
    this.drift.reset(usual);
  }

  #compare(metric: number, predictedUs: number, trueUs: number, nowUs: number): void {
    this.#errors[metric]!.add(predictedUs / trueUs - 1);
    this.drift.observe(metric, predictedUs, trueUs, nowUs);
  }
}
