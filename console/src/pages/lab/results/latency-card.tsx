import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card, NumberHead, TablePlace } from '../../../parts/basics';
import { milliseconds } from '../../../parts/format';
import { type ChartLine, LineChart } from '../../../parts/line-chart';
import { Empty } from '../../../parts/states';
import type { LabCurves, LabResult } from '../lab-document';

const route = getRouteApi('/lab');

const LATENCIES = {
  ttft: ['Time to first token', 'ttft_ms'],
  e2e: ['Whole request', 'e2e_ms'],
  itl: ['Between tokens', 'itl_ms'],
} as const;
type Latency = keyof typeof LATENCIES;
const TABLE = [50, 90, 98, 99, 99.9, 100];

/** How many per cent of requests had at most which latency, of each policy. */
export function LatencyCard({ result }: { readonly result: LabResult }) {
  const { chart } = route.useSearch();
  const navigate = route.useNavigate();
  const shown: Latency = chart ?? 'ttft';
  const [name, key] = LATENCIES[shown];
  const { curves, quantiles } = result;
  const { slo } = result.document.comparison;
  const lines = useMemo(
    () => curves.map((one) => cdf(one, key, quantiles)).filter(({ xs }) => xs.length > 1),
    [curves, key, quantiles],
  );
  const x = useMemo(() => {
    const isLimit = slo?.metric === 'ttft_p99_ms' && key === 'ttft_ms';
    return {
      ...{ title: name, text: milliseconds, scale: 'log' as const },
      ...(isLimit ? { mark: { at: slo.limit, name: `SLO ${milliseconds(slo.limit)}` } } : {}),
    };
  }, [key, name, slo]);
  return (
    <Card
      title={`${name}: share of requests up to`}
      actions={
        <div className="segments">
          {(Object.keys(LATENCIES) as Latency[]).map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="latency"
                checked={one === shown}
                onChange={() =>
                  void navigate({
                    search: (before) => ({ ...before, chart: one === 'ttft' ? undefined : one }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              />
              <span>{one.toUpperCase()}</span>
            </label>
          ))}
        </div>
      }
    >
      {lines.length === 0 ? (
        <Empty title="No request has completed">Give the fleet more replicas, or fewer requests per second.</Empty>
      ) : (
        <LineChart
          title={`${name}: how many per cent of requests had at most which latency`}
          lines={lines}
          x={x}
          y={SHARE}
          table={<QuantileTable curves={curves} latency={key} quantiles={quantiles} />}
        />
      )}
    </Card>
  );
}

const SHARE = {
  ...{ title: '% of requests', scale: 'tail' as const },
  text: (value: number) => `${value > 99 && value < 100 ? value.toFixed(1) : value.toFixed(0)} %`,
};

type CurveKey = (typeof LATENCIES)[Latency][1];

/** Where several percentiles have the same latency the highest counts. A logarithmic axis has no 0. */
function cdf(curves: LabCurves, key: CurveKey, quantiles: readonly number[]): ChartLine {
  const highest = new Map<number, number>();
  for (const [i, ms] of curves[key].entries()) if (ms > 0 && quantiles[i]! <= 99.9) highest.set(ms, quantiles[i]!);
  return { name: curves.name, xs: [...highest.keys()], ys: [...highest.values()] };
}

interface QuantileTableProps {
  readonly curves: readonly LabCurves[];
  readonly latency: CurveKey;
  readonly quantiles: readonly number[];
}

function QuantileTable({ curves, latency, quantiles }: QuantileTableProps) {
  return (
    <TablePlace name="Percentiles">
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {TABLE.map((percent) => (
              <NumberHead key={percent}>{percent === 100 ? 'most' : `p${percent}`}</NumberHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {curves.map((one) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              {TABLE.map((percent) => (
                <td key={percent} className="number">
                  {milliseconds(one[latency][quantiles.indexOf(percent)] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
