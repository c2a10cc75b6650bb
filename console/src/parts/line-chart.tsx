// First: see there.
import './valid-language';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import '../styles/charts.css';
import { useThemeChanges } from './use-theme-changes';

/** A line with points of its own; `xs` ascends. */
export interface ChartLine {
  readonly name: string;
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

export interface ChartAxis {
  readonly title: string;
  readonly text: (value: number) => string;
  /** `tail`: per cent, with as much room for the slowest tenth as for the next hundredth. */
  readonly scale?: 'linear' | 'log' | 'tail';
  /** A value that is drawn in, such as a limit. */
  readonly mark?: { readonly at: number; readonly name: string };
}

interface LineChartProps {
  /** What the chart shows, in a sentence: screen readers have it and the table below. */
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  /** The same numbers for those who do not see the chart. */
  readonly table: ReactNode;
}

const HEIGHT = 260;
/** Lines differ by colour and by dashes. */
const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2]];
const TAIL_TICKS = [0, 50, 90, 99, 99.9];
const tailOf = (percent: number) => -Math.log10(Math.max(0.001, 1 - percent / 100));
const percentOf = (tail: number) => 100 * (1 - 10 ** -tail);

/** Ticks of a logarithmic axis that have a number: 1, 2, 5, 10, 20, 50. */
const roundOnly = (value: number) =>
  /^[125]/.test(value.toExponential(6)) && /^\d\.0*e/.test(value.toExponential(6)) ? value : null;

/** Lines over a common axis, drawn by uPlot, with values at the pointer and a table of the same. */
export function LineChart({ lines, table, title, x, y }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const theme = useThemeChanges();
  const data = useMemo(() => uPlot.join(lines.map(({ xs, ys }) => [[...xs], [...ys]] as uPlot.AlignedData)), [lines]);
  // Also with a new theme, which has other colours.
  useEffect(() => {
    const element = place.current!;
    const colours = [...legend.current!.querySelectorAll('.key')].map((key) => getComputedStyle(key).color);
    const { color, fontFamily } = getComputedStyle(element);
    const line = getComputedStyle(legend.current!).borderTopColor;
    const axis = (of: ChartAxis, size: number): uPlot.Axis => ({
      ...{
        stroke: color,
        font: `11px ${fontFamily}`,
        labelFont: `11px ${fontFamily}`,
        label: of.title,
        labelSize: 18,
        size,
      },
      ...{ grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } },
      values: (_: uPlot, values: (number | null)[]) => values.map((value) => (value === null ? '' : of.text(value))),
      ...(of.scale === 'tail' ? { splits: () => TAIL_TICKS, filter: (_: uPlot, splits: number[]) => splits } : {}),
      ...(of.scale === 'log' ? { filter: (_: uPlot, splits: number[]) => splits.map(roundOnly) } : {}),
    });
    const plot = new uPlot(
      {
        ...{ width: element.clientWidth, height: HEIGHT, legend: { show: false }, padding: [8, 24, 0, 0] },
        scales: { x: { time: false, ...scaleOf(x) }, y: scaleOf(y) },
        axes: [axis(x, 34), axis(y, 52)],
        series: [
          {},
          ...lines.map(({ name }, i) => ({
            ...{ label: name, stroke: colours[i]!, width: 2, dash: DASHES[i % DASHES.length]!, spanGaps: true },
            points: { show: false },
          })),
        ],
        cursor: { points: { show: false }, drag: { x: false, y: false } },
        hooks: {
          setCursor: [({ cursor, posToVal }) => setAt((cursor.left ?? -1) < 0 ? null : posToVal(cursor.left!, 'x'))],
          draw: [(drawn) => drawMark(drawn, x, color, fontFamily)],
        },
      },
      data,
      element,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [data, lines, x, y, theme]);
  return (
    <figure className="chart">
      <figcaption className="visually-hidden">{title}</figcaption>
      <ul className="chart-legend" ref={legend}>
        {lines.map((line, i) => (
          <li key={line.name}>
            <span className={`key series-${i % DASHES.length}`} aria-hidden="true" />
            {line.name}
            <span className="muted" aria-hidden="true">
              {at === null ? '' : ` ${y.text(valueAt(line, at))}`}
            </span>
          </li>
        ))}
        <li className="muted" aria-hidden="true">
          {at === null ? '' : `at ${x.text(at)}`}
        </li>
      </ul>
      <div className="chart-place" ref={place} aria-hidden="true" />
      <details className="chart-table">
        <summary>As a table</summary>
        {table}
      </details>
    </figure>
  );
}

function scaleOf({ scale = 'linear' }: ChartAxis): uPlot.Scale {
  if (scale === 'log') return { distr: 3 };
  if (scale === 'tail') return { distr: 100, fwd: tailOf, bwd: percentOf, range: () => [0, 99.9] };
  return { range: (_, least, most) => [Math.min(0, least), most <= least ? least + 1 : most * 1.05] };
}

/** A limit of the horizontal axis, as a dashed line with its name. */
function drawMark(plot: uPlot, { mark }: ChartAxis, colour: string, font: string): void {
  const { max, min } = plot.scales.x!;
  if (mark === undefined || min === undefined || max === undefined || mark.at < min || mark.at > max) return;
  const { ctx } = plot;
  const { height, left: from, top, width } = plot.bbox;
  const left = plot.valToPos(mark.at, 'x', true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(left, top);
  ctx.lineTo(left, top + height);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px ${font}`;
  const isAtEnd = left > from + width * 0.75;
  ctx.textAlign = isAtEnd ? 'right' : 'left';
  ctx.fillText(mark.name, left + (isAtEnd ? -6 : 6), top + height - 8 * devicePixelRatio);
  ctx.restore();
}

/** Between the points of a line, in a straight line; its first and last value beyond. */
function valueAt({ xs, ys }: ChartLine, x: number): number {
  const after = xs.findIndex((one) => one >= x);
  if (after === 0) return ys[0]!;
  if (after < 0) return ys.at(-1)!;
  const [x0, x1] = [xs[after - 1]!, xs[after]!];
  const share = x1 === x0 ? 1 : (x - x0) / (x1 - x0);
  return ys[after - 1]! + share * (ys[after]! - ys[after - 1]!);
}
