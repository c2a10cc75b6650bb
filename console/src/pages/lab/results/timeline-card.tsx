import { useMemo } from 'react';
import { Card, NumberHead, TablePlace } from '../../../parts/basics';
import { short, whole } from '../../../parts/format';
import { LineChart } from '../../../parts/line-chart';
import type { LabCurves, LabResult } from '../lab-document';

const TIME = { title: 'Time in the run', text: (seconds: number) => `${Number(seconds.toFixed(2))} s` };
const count = (value: number) => (Number.isInteger(value) ? whole(value) : short(value));
const IN_SYSTEM = { title: 'Requests in the cluster', text: count };
const TOKENS = { title: 'Output tokens per second', text: count };

/** The course of each policy over the run of the first seed: a mean over seeds would smooth the peaks away. */
export function TimelineCard({ result: { curves } }: { readonly result: LabResult }) {
  return (
    <div className="columns lab-timelines">
      <Timeline title="Requests in the cluster" curves={curves} of="in_system" axis={IN_SYSTEM} />
      <Timeline title="Throughput" curves={curves} of="tokens_per_s" axis={TOKENS} />
    </div>
  );
}

interface TimelineProps {
  readonly title: string;
  readonly curves: readonly LabCurves[];
  readonly of: 'in_system' | 'tokens_per_s';
  readonly axis: typeof IN_SYSTEM;
}

function Timeline({ axis, curves, of, title }: TimelineProps) {
  const lines = useMemo(
    () => curves.map((one) => ({ name: one.name, xs: one[of].map((_, i) => (i + 0.5) * one.step_s), ys: one[of] })),
    [curves, of],
  );
  return (
    <Card title={title}>
      <LineChart
        title={`${title} over time, of the first seed`}
        lines={lines}
        x={TIME}
        y={axis}
        table={<CourseTable curves={curves} of={of} title={axis.title} />}
      />
    </Card>
  );
}

function CourseTable({ curves, of, title }: Pick<TimelineProps, 'curves' | 'of' | 'title'>) {
  return (
    <TablePlace name={title}>
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            <NumberHead>Mean</NumberHead>
            <NumberHead>Most</NumberHead>
            <NumberHead>Length of the run</NumberHead>
          </tr>
        </thead>
        <tbody>
          {curves.map((one) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              <td className="number">{short(one[of].reduce((sum, value) => sum + value, 0) / one[of].length)}</td>
              <td className="number">{short(Math.max(...one[of]))}</td>
              <td className="number">{short(one.step_s * one[of].length)} s</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
