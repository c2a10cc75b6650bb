import type { LatencyMeasure } from '../../experiment/metrics.js';
import type { PlannedCandidate } from '../../experiment/plan/plan-document.js';
import type { MeasuredLatency, PlanPoint } from '../../experiment/plan/plan-point.js';
import type { PlannedKind } from '../../experiment/plan/planned-fleet.js';
import type { Slo } from '../../experiment/plan/slo.js';
import { counted } from '../text/format-number.js';

const NAMES: Record<LatencyMeasure['of'], string> = { ttft: 'TTFT', itl: 'ITL', tpot: 'TPOT', e2e: 'E2E' };

/** `TTFT p99`, `ITL mean`. */
export function measureName({ of, at }: LatencyMeasure): string {
  return `${NAMES[of]} ${at === 'mean' ? at : `p${at}`}`;
}

/** `TTFT p99 <= 500 ms`. */
export function sloText(slo: Slo): string {
  return `${measureName(slo)} <= ${msText(slo.limitMs)}`;
}

const IN_SECONDS = 10_000;

/** `410 ms`, `12.3 ms`, `71.7 s`. */
export function msText(ms: number): string {
  if (ms >= IN_SECONDS) return `${Number((ms / 1000).toPrecision(3))} s`;
  return `${ms >= 100 ? Math.round(ms) : Number(ms.toPrecision(3))} ms`;
}

/** `60 req/s`. */
export function rateText(rate: number): string {
  return `${rateNumber(rate)} req/s`;
}

export function rateNumber(rate: number): string {
  return String(rate >= 1000 ? Math.round(rate) : Number(rate.toPrecision(3)));
}

/** `410 ms ± 30`; `not reached` where requests that are never served reach into it. */
export function latencyText({ ms, low, high }: MeasuredLatency): string {
  if (ms === null) return 'not reached';
  if (low === null || high === null) return msText(ms);
  const half = (high - low) / 2 / (ms >= IN_SECONDS ? 1000 : 1);
  return `${msText(ms)} ± ${half >= 100 ? Math.round(half) : Number(half.toPrecision(2))}`;
}

/** `H100, tp 1`; of a fleet of several kinds `1 H200 + 2 L4 with tp 2`. */
export function candidateName({ fleet, gpu, tp }: Pick<PlannedCandidate, 'fleet' | 'gpu' | 'tp'>): string {
  return fleet === undefined ? `${gpu}, tp ${tp}` : fleet.map(kindText).join(' + ');
}

function kindText({ gpu, gpus, profile, tp }: PlannedKind): string {
  const details = [...(tp > 1 ? [`tp ${tp}`] : []), ...(profile === null ? [] : [`profile ${profile}`])];
  return `${gpus} ${gpu}${details.length === 0 ? '' : ` with ${details.join(' and ')}`}`;
}

/** What one replica more or less is of. */
export function lastKind({ fleet }: Pick<PlannedCandidate, 'fleet'>): string {
  const last = fleet?.at(-1);
  return last === undefined ? 'one' : `one ${last.profile ?? last.gpu}`;
}

export function replicasText(replicas: number): string {
  return counted(replicas, 'replica');
}

/** Why a point does not keep its SLOs, as the end of a sentence. */
export function missText(point: PlanPoint, slos: readonly Slo[]): string {
  if (point.why === 'backlog') {
    const growth = Math.round(100 * point.growth);
    return `the backlog grows until the end (requests in flight +${growth} % in ${secondsText(point.measuredS)}; ${rateText(point.finishedPerS)} of ${rateText(point.rate)} finished)`;
  }
  if (point.why === 'lost') return `${percentText(point.lost)} of the requests time out or are rejected`;
  const missed = slos.flatMap((slo) => {
    const { ms } = point.latencies.find(({ of, at }) => of === slo.of && at === slo.at)!;
    return ms !== null && ms <= slo.limitMs ? [] : [`${measureName(slo)} ${ms === null ? 'not reached' : msText(ms)}`];
  });
  return missed.join(', ');
}

export function percentText(share: number): string {
  const percent = 100 * share;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}

export function secondsText(s: number): string {
  return s >= 600 ? `${Math.round(s / 60)} min` : `${Number(s.toPrecision(3))} s`;
}

/** `12.45 USD/h`. */
export function priceText(price: number, currency: string): string {
  return `${price.toFixed(2)}${currency === '' ? '' : ` ${currency}`}/h`;
}
