import { Card, NumberHead, TablePlace } from '../../../parts/basics';
import type { Alternative, BaselineMetric } from '../documents';
import { metricChange, metricName, metricValue } from '../metric-text';

interface DifferenceTableProps {
  readonly alternatives: readonly Alternative[];
  readonly baseline: readonly BaselineMetric[];
}

/** Every metric as it was, as simulated, and how each policy differs from what was, with intervals. */
export function DifferenceTable({ alternatives, baseline }: DifferenceTableProps) {
  return (
    <Card title="Differences from what was measured, with 95 % intervals">
      <TablePlace name="Differences of the policies">
        <table className="table table-dense differences">
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <NumberHead>As it was</NumberHead>
              <NumberHead>As simulated</NumberHead>
              <NumberHead>Error</NumberHead>
              {alternatives.map(({ name }) => (
                <NumberHead key={name}>{name}</NumberHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {baseline.map(({ error, measured, metric, simulated }) => (
              <tr key={metric}>
                <th scope="row">{metricName(metric)}</th>
                <td className="number">{metricValue(metric, measured)}</td>
                <td className="number muted">{metricValue(metric, simulated)}</td>
                <td className="number muted">{metricChange(metric, error)}</td>
                {alternatives.map((one) => (
                  <DifferenceCell key={one.name} alternative={one} metric={metric} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TablePlace>
    </Card>
  );
}

function DifferenceCell({ alternative, metric }: { readonly alternative: Alternative; readonly metric: string }) {
  const found = alternative.metrics.find((one) => one.metric === metric);
  if (found === undefined) return <td className="number muted">–</td>;
  const claim = alternative.refused === null ? found.claim : 'none';
  return (
    <td className={`number claim-${claim}`}>
      <strong>{metricChange(metric, found.change)}</strong> {claim === 'none' ? 'not claimed' : claim}
      <span className="muted difference-interval">
        {metricChange(metric, found.changeLow)} to {metricChange(metric, found.changeHigh)}
      </span>
    </td>
  );
}
