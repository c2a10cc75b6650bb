import { getRouteApi } from '@tanstack/react-router';
import { Card } from '../../../parts/basics';
import type { Alternative, BaselineMetric, Prediction } from '../documents';
import { METRICS, metricName, metricValue } from '../metric-text';

const route = getRouteApi('/whatif');

/** What the picture shows unless the address says otherwise. */
export const SHOWN_METRIC = 'ttft_p90_ms';

/** Of the longest bar. */
const MOST_REACH = 3;

const percent = (share: number) => `${(100 * share).toFixed(2)}%`;

interface PolicyPictureProps {
  readonly alternatives: readonly Alternative[];
  readonly baseline: readonly BaselineMetric[];
  /** The metric that was asked about; absent: the visitor chooses one. */
  readonly metric?: string;
}

/** One metric with every policy as bars with their intervals, beside what was measured and what was simulated of it. */
export function PolicyPicture({ alternatives, baseline, metric }: PolicyPictureProps) {
  const search = route.useSearch();
  const shown = metric ?? search.metric ?? SHOWN_METRIC;
  const check = baseline.find((one) => one.metric === shown);
  const rows = alternatives.flatMap(({ metrics, name, refused }) => {
    const found = metrics.find((one) => one.metric === shown);
    return found === undefined ? [] : [{ name, refused, found }];
  });
  if (check === undefined || rows.length === 0) return null;
  const isMore = shown === 'cached_share';
  rows.sort((a, b) => (isMore ? b.found.predicted - a.found.predicted : a.found.predicted - b.found.predicted));
  const values = Math.max(check.measured, check.simulated, ...rows.map(({ found }) => found.predicted));
  // Intervals that say nothing are cut off, so that bars can be told apart.
  const most = Math.min(MOST_REACH * values, Math.max(values, ...rows.map(({ found }) => found.high)) * 1.02);
  const share = (value: number) => Math.min(1, Math.max(0, value) / Math.max(most, Number.MIN_VALUE));
  return (
    <Card
      title={`${metricName(shown)} with each policy, ${isMore ? 'the most' : 'the least'} first`}
      actions={metric === undefined ? <MetricShown shown={shown} /> : undefined}
    >
      <ul className="policy-bars">
        <li className="policy-bar">
          <span className="policy-bar-name">as it was</span>
          <span className="policy-bar-track" aria-hidden="true">
            <span className="policy-bar-fill bar-was" style={{ width: percent(share(check.measured)) }} />
            <span className="policy-bar-simulated" style={{ left: percent(share(check.simulated)) }} />
          </span>
          <span className="number">
            {metricValue(shown, check.measured)}
            <span className="muted"> simulated: {metricValue(shown, check.simulated)}</span>
          </span>
        </li>
        {rows.map(({ found, name, refused }) => (
          <li key={name} className="policy-bar">
            <span className="policy-bar-name">{name}</span>
            <PolicyBar found={found} isClaimed={refused === null} was={check.measured} share={share} />
            <span className="number">
              {metricValue(shown, found.predicted)}
              <span className="muted">
                {' '}
                {metricValue(shown, found.low)} to {metricValue(shown, found.high)}
              </span>
            </span>
          </li>
        ))}
      </ul>
      <p className="padded muted">
        The line through all bars is what was measured; the mark of the first bar is the same traffic as simulated, so
        that the calibrated error is in sight. The thin lines are 95 % intervals. Grey: the difference is not claimed.
      </p>
    </Card>
  );
}

interface PolicyBarProps {
  readonly found: Prediction;
  readonly isClaimed: boolean;
  readonly was: number;
  /** Of the width. */
  readonly share: (value: number) => number;
}

function PolicyBar({ found, isClaimed, share, was }: PolicyBarProps) {
  const [low, high] = [share(found.low), share(found.high)];
  const claim = isClaimed ? found.claim : 'none';
  return (
    <span className={`policy-bar-track interval-${claim}`} aria-hidden="true">
      <span className="policy-bar-fill" style={{ width: percent(share(found.predicted)) }} />
      <span className="policy-bar-interval" style={{ left: percent(low), width: percent(high - low) }} />
      <span className="policy-bar-was" style={{ left: percent(share(was)) }} />
    </span>
  );
}

function MetricShown({ shown }: { readonly shown: string }) {
  const navigate = route.useNavigate();
  return (
    <label className="metric-shown">
      <span className="visually-hidden">Metric in the picture</span>
      <select
        value={shown}
        onChange={({ target }) => {
          const metric = target.value === SHOWN_METRIC ? undefined : target.value;
          void navigate({ search: (before) => ({ ...before, metric }), replace: true });
        }}
      >
        {METRICS.map((one) => (
          <option key={one} value={one}>
            {metricName(one)}
          </option>
        ))}
      </select>
    </label>
  );
}
