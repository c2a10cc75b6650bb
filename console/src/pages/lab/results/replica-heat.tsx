import { useEffect, useRef } from 'react';
import { Card, NumberHead, TablePlace } from '../../../parts/basics';
import { short } from '../../../parts/format';
import { useThemeChanges } from '../../../parts/use-theme-changes';
import type { LabCurves } from '../lab-document';

const RANGE = ['idlest replica', 'mean', 'busiest replica'];
/** Rows of a small fleet are easy to see; those of a large one still fit. */
const rowHeight = (rows: number) => Math.max(4, Math.min(16, Math.floor(240 / rows)));
const mean = (row: readonly number[]) => row.reduce((sum, value) => sum + value, 0) / row.length;

interface ReplicaHeatProps {
  readonly curves: readonly LabCurves[];
  /** How many replicas have which GPU, where they are not alike. */
  readonly kinds?: readonly (readonly [count: number, gpu: string])[] | undefined;
}

/** Requests at each replica over time, of each policy, with the same colours for the same load. */
export function ReplicaHeat({ curves, kinds }: ReplicaHeatProps) {
  const most = Math.max(1e-9, ...curves.flatMap(({ replicas }) => replicas.rows.map((row) => Math.max(...row))));
  const longest = Math.max(...curves.map((one) => one.step_s * one.in_system.length));
  return (
    <Card title="Requests at each replica over time">
      <div className="padded heats">
        {curves.map((one) => (
          <div key={one.name} className="heat">
            <span>{one.name}</span>
            <Heat curves={one} most={most} longest={longest} />
          </div>
        ))}
        <p className="muted heat-scale">
          0 s to {short(longest)} s, one row for each replica
          {curves.some(({ replicas }) => replicas.kind === 'range')
            ? ' (of this large fleet: idlest, mean, busiest)'
            : kinds === undefined
              ? ''
              : ` (from the top: ${kinds.map(([count, gpu]) => `${count} with ${gpu}`).join(', ')})`}
          ; none <span className="heat-ramp" aria-hidden="true" /> {short(most)} requests
        </p>
        <details className="chart-table">
          <summary>As a table</summary>
          <LoadTable curves={curves} kinds={kinds} />
        </details>
      </div>
    </Card>
  );
}

interface HeatProps {
  readonly curves: LabCurves;
  readonly most: number;
  readonly longest: number;
}

/** Runs end at different times: all are drawn on the same time. */
function Heat({ curves: { name, replicas, step_s }, longest, most }: HeatProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useThemeChanges();
  const { rows } = replicas;
  const steps = rows[0]!.length;
  const height = rowHeight(rows.length);
  // Also with a new theme, which has other colours.
  useEffect(() => {
    const element = canvas.current!;
    const context = element.getContext('2d')!;
    context.clearRect(0, 0, element.width, element.height);
    context.fillStyle = getComputedStyle(element).color;
    const width = (element.width * step_s) / longest;
    for (const [row, values] of rows.entries()) {
      for (const [step, value] of values.entries()) {
        // The eye tells small shares apart better than large ones.
        context.globalAlpha = Math.sqrt(value / most);
        const left = Math.floor(step * width);
        context.fillRect(left, row * height, Math.floor((step + 1) * width) - left, height - (height > 5 ? 1 : 0));
      }
    }
  }, [rows, most, longest, step_s, height, theme]);
  return (
    <canvas
      ref={canvas}
      width={steps * 8}
      height={rows.length * height}
      role="img"
      aria-label={`Load of ${rows.length} replicas with ${name} over time; the table below has the numbers`}
    />
  );
}

function LoadTable({ curves, kinds }: ReplicaHeatProps) {
  const gpus = (kinds ?? []).flatMap(([count, gpu]) => Array.from({ length: count }, () => `, ${gpu}`));
  return (
    <TablePlace name="Requests at each replica">
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            <th scope="col">Replica</th>
            <NumberHead>Mean requests</NumberHead>
            <NumberHead>Most requests</NumberHead>
          </tr>
        </thead>
        <tbody>
          {curves.flatMap(({ name, replicas }) =>
            replicas.rows.map((row, i) => (
              <tr key={`${name} ${i}`}>
                <td>{name}</td>
                <td>{replicas.kind === 'range' ? RANGE[i] : `replica ${i}${gpus[i] ?? ''}`}</td>
                <td className="number">{short(mean(row))}</td>
                <td className="number">{short(Math.max(...row))}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </TablePlace>
  );
}
