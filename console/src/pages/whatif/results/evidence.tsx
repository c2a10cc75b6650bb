import { whole } from '../../../parts/format';
import { Stat, Stats } from '../../../parts/stat';
import type { Baseline, Recording } from '../documents';
import { metricChange, metricName, span } from '../metric-text';

const HEADLINE = ['ttft_mean_ms', 'e2e_mean_ms'];

/** How much was recorded, and how far the simulation of it is from what was measured: the calibrated error. */
export function Evidence({ baseline, recording }: { readonly recording: Recording; readonly baseline: Baseline }) {
  const { metrics, profile, stepError } = baseline;
  return (
    <Stats>
      <Stat
        name="Recorded"
        value={whole(recording.requests)}
        unit="requests"
        note={`over ${span(recording.durationS)} on ${recording.replicas.length} replica${recording.replicas.length === 1 ? '' : 's'}`}
      />
      {metrics
        .filter(({ metric }) => HEADLINE.includes(metric))
        .map(({ error, metric }) => (
          <Stat
            key={metric}
            name={`Calibrated error, ${metricName(metric)}`}
            value={metricChange(metric, error)}
            note="simulated as it was, against measured"
          />
        ))}
      <Stat
        name="Step times known to"
        value={`±${(100 * stepError).toFixed(1)} %`}
        note={profile.source === 'fitted' ? 'fitted to the recording' : `profile: ${profile.name}`}
      />
    </Stats>
  );
}

/** What to know before trusting a result. */
export function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <details className="as-command">
      <summary>
        {notes.length} note{notes.length === 1 ? '' : 's'}
      </summary>
      <ul className="notes">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </details>
  );
}
