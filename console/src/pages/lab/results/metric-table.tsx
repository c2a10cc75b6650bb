import { Badge, NumberHead, TablePlace, type Tone } from '../../../parts/basics';
import type { LabResult, Metric, MetricDifference } from '../lab-document';
import { amount, change, changeInterval } from './metric-text';

const TONES: Readonly<Record<MetricDifference['verdict'], Tone>> = {
  better: 'good',
  'likely-better': 'good',
  worse: 'bad',
  'likely-worse': 'bad',
  noise: 'idle',
  same: 'idle',
  once: 'info',
};
const WORDS: Readonly<Record<MetricDifference['verdict'], string>> = {
  better: 'better',
  'likely-better': 'likely better',
  worse: 'worse',
  'likely-worse': 'likely worse',
  noise: 'noise',
  same: 'same',
  once: 'one run',
};

/** A row for each policy: every measure with its interval over seeds, and how it differs from the first policy. */
export function MetricTable({ result }: { readonly result: LabResult }) {
  const { comparison, differences, variants } = result.document;
  const { headline } = comparison;
  return (
    <TablePlace name="Measures of each policy">
      <table className="table lab-measures">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {headline.map(({ key, title }) => (
              <NumberHead key={key}>{title}</NumberHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {variants.map(({ metrics, name, saturation }, i) => (
            <tr key={name}>
              <th scope="row">
                <span className={`key series-${i}`} aria-hidden="true" /> {name}
                {saturation.state === 'saturated' ? (
                  <p>
                    <Badge tone="warn" title={saturation.verdict}>
                      saturated
                    </Badge>
                  </p>
                ) : null}
              </th>
              {headline.map((metric) => (
                <td key={metric.key} className="number">
                  <Measure
                    metric={metric}
                    mean={metrics[metric.key]?.mean ?? null}
                    interval={result.curves[i]!.intervals[metric.key] ?? null}
                    difference={differences.find((one) => one.variant === name && one.metric === metric.key)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}

interface MeasureProps {
  readonly metric: Metric;
  readonly mean: number | null;
  readonly interval: readonly [number, number] | null;
  readonly difference: MetricDifference | undefined;
}

function Measure({ difference, interval, mean, metric }: MeasureProps) {
  if (mean === null) return '–';
  return (
    <>
      <strong title={String(mean)}>{amount(metric, mean)}</strong>
      {interval === null ? null : (
        <p className="muted">
          {amount(metric, interval[0])} to {amount(metric, interval[1])}
        </p>
      )}
      {difference === undefined ? null : (
        <p>
          <Badge tone={TONES[difference.verdict]} title={changeInterval(metric, difference)}>
            {difference.verdict === 'same' ? 'same' : `${change(metric, difference)}, ${WORDS[difference.verdict]}`}
          </Badge>
        </p>
      )}
    </>
  );
}
