import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card, NumberHead, TablePlace } from '../../../parts/basics';
import { LineChart } from '../../../parts/line-chart';
import { Choice } from '../form/fields';
import type { LabResult, LabVariant, Metric } from '../lab-document';
import { amount } from './metric-text';

const route = getRouteApi('/lab');

/** Experiments with an SLO have goodput, which a curve over the load is about. */
const FIRST = ['goodput_rps', 'ttft_p99_ms'];

/** A measure of each policy over the load. */
export function LoadCurve({ result }: { readonly result: LabResult }) {
  const { measure } = route.useSearch();
  const navigate = route.useNavigate();
  const { comparison, variants } = result.document;
  const { headline, slo } = comparison;
  const standard = FIRST.find((key) => headline.some((one) => one.key === key)) ?? headline[0]!.key;
  const metric = headline.find(({ key }) => key === (measure ?? standard)) ?? headline[0]!;
  const { lines, x, y } = useMemo(() => {
    const limit = slo?.metric === metric.key ? slo.limit : null;
    const xs = loadsOf(result);
    const series = seriesOf(variants).map((name) => {
      const own = variants.filter((one) => one.series === name && one.metrics[metric.key] != null);
      return { name, xs: own.map((one) => one.x!), ys: own.map((one) => one.metrics[metric.key]!.mean) };
    });
    return {
      lines: limit === null ? series : [...series, { name: 'SLO', xs, ys: xs.map(() => limit) }],
      x: { title: 'Requests per second', text: (value: number) => String(Number(value.toFixed(2))) },
      y: {
        title: metric.unit.includes('/') ? `${metric.title}, ${metric.unit}` : metric.title,
        text: (value: number) => amount(metric.unit.includes('/') ? { ...metric, unit: '' } : metric, value),
        ...(metric.unit === 'ms' ? { scale: 'log' as const } : {}),
      },
    };
  }, [metric, result, slo, variants]);
  return (
    <Card
      title={`${metric.title.charAt(0).toUpperCase()}${metric.title.slice(1)} over the load`}
      actions={
        <Choice
          label="Measure"
          value={metric.key}
          values={headline.map(({ key }) => key)}
          shown={(key) => headline.find((one) => one.key === key)!.title}
          onChange={(key) =>
            void navigate({ search: (before) => ({ ...before, measure: key }), replace: true, resetScroll: false })
          }
        />
      }
    >
      <LineChart
        title={`${metric.title} of each policy at each rate`}
        lines={lines.filter(({ xs }) => xs.length > 0)}
        x={x}
        y={y}
        table={<LoadTable metric={metric} result={result} />}
      />
    </Card>
  );
}

/** The rates of an experiment, in ascending order; empty where there is one only. */
export function loadsOf({ document: { comparison, variants } }: LabResult): number[] {
  if (comparison.axis === null) return [];
  return [...new Set(variants.flatMap(({ x }) => (x === null ? [] : [x])))].sort((one, other) => one - other);
}

const seriesOf = (variants: readonly LabVariant[]) => [...new Set(variants.map(({ series }) => series))];

/** What belongs to one rate, with policies by their own names. */
export function atLoad(result: LabResult, load: number): LabResult {
  const { document } = result;
  const isHere = document.variants.map(({ x }) => x === load);
  const variants = document.variants.filter((_, i) => isHere[i]);
  const seriesName = new Map(variants.map(({ name, series }) => [name, series]));
  return {
    ...result,
    curves: result.curves.filter((_, i) => isHere[i]).map((one) => ({ ...one, name: seriesName.get(one.name)! })),
    document: {
      ...document,
      variants: variants.map((one) => ({ ...one, name: one.series })),
      findings: document.findings.filter((line) => variants.some(({ name }) => line.startsWith(`${name}: `))),
      differences: document.differences
        .filter(({ variant }) => seriesName.has(variant))
        .map((one) => ({ ...one, variant: seriesName.get(one.variant)! })),
    },
  };
}

function LoadTable({ metric, result }: { readonly metric: Metric; readonly result: LabResult }) {
  const { variants } = result.document;
  const loads = loadsOf(result);
  const intervalOf = (one: LabVariant) => result.curves[variants.indexOf(one)]!.intervals[metric.key] ?? null;
  return (
    <TablePlace name={`${metric.title} at each rate`}>
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {loads.map((load) => (
              <NumberHead key={load}>{load}/s</NumberHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {seriesOf(variants).map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {loads.map((load) => {
                const one = variants.find(({ series, x }) => series === name && x === load);
                const mean = one?.metrics[metric.key]?.mean;
                const interval = one === undefined ? null : intervalOf(one);
                return (
                  <td key={load} className="number">
                    {mean === undefined ? '–' : amount(metric, mean)}
                    {interval === null ? null : (
                      <p className="muted">
                        {amount(metric, interval[0])} to {amount(metric, interval[1])}
                      </p>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
