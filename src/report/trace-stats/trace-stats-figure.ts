import type { ReuseShare, TraceSeries, TraceStats } from '../../workload/tools/stats/trace-stats-document.js';
import type { Chart, Point, Series } from '../chart/chart.js';
import { drawFigure } from '../chart/figure.js';
import { linearScale, logScale } from '../chart/scale.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { counted, percent } from '../text/format-number.js';
import { timeUnit } from '../text/time-span.js';
import { statsHeadline, statsSections } from './trace-stats-sections.js';

/** More bars and points of a line than these could not be distinguished. */
const MOST_BARS = 100;
const MOST_POINTS = 200;
/** A bar should hold several requests, not one or none. */
const REQUESTS_PER_BAR = 4;

/** The statistics of a trace as a picture: one SVG that needs nothing else. */
export function traceStatsSvg(name: string, stats: TraceStats, series: TraceSeries): string {
  return drawFigure({
    heading: name,
    note: statsHeadline(stats),
    charts: [
      arrivals(stats, series),
      lengths(series),
      ...(series.sortedTurns.length > 0 ? [turns(series)] : []),
      ...(stats.prefix_reuse.known_by.length > 0 ? [reuse(stats, series)] : []),
    ],
  });
}

/** The picture with the figures below it, as one page. */
export function traceStatsPage(name: string, stats: TraceStats, series: TraceSeries): string {
  const tables = statsSections(stats).map(htmlTable).join('\n');
  return htmlPage(`Trace ${name}`, `${traceStatsSvg(name, stats, series)}${tables}`);
}

function arrivals({ duration_s, requests }: TraceStats, { arrivalUs }: TraceSeries): Chart {
  const unit = timeUnit(duration_s);
  const span = duration_s || 1;
  const bars = Math.min(MOST_BARS, Math.ceil(requests / REQUESTS_PER_BAR));
  const counts = new Float64Array(bars + 1);
  for (const us of arrivalUs) counts[Math.min(bars - 1, Math.floor(((us - arrivalUs[0]!) / 1e6 / span) * bars))]!++;
  const points = Array.from(counts, (count, i): Point => [(i * span) / bars / unit.size, (count * bars) / span]);
  return {
    title: 'Arrivals',
    x: { title: `time, ${unit.name}`, scale: linearScale(0, span / unit.size) },
    y: { title: 'requests/s', scale: linearScale(0, Math.max(...points.map(([, y]) => y))) },
    series: [{ name: 'requests', shape: 'bars', points }],
  };
}

function lengths({ sortedInput, sortedOutput }: TraceSeries): Chart {
  return {
    title: 'Lengths',
    x: { title: 'tokens', scale: logScale(1, Math.max(sortedInput.at(-1)!, sortedOutput.at(-1)!)) },
    y: { title: '% of requests up to', scale: linearScale(0, 100) },
    series: [
      { name: 'input', shape: 'line', points: distribution(sortedInput) },
      { name: 'output', shape: 'line', points: distribution(sortedOutput) },
    ],
  };
}

function turns({ sortedTurns }: TraceSeries): Chart {
  const scale = logScale(1, sortedTurns.at(-1)!);
  const points: Point[] = [[1, 0], ...distribution(sortedTurns), [scale.ticks.at(-1)!, 100]];
  return {
    title: `Turns of ${counted(sortedTurns.length, 'session')}`,
    x: { title: 'turns', scale },
    y: { title: '% of sessions up to', scale: linearScale(0, 100) },
    series: [{ name: 'chats', shape: 'steps', points }],
  };
}

function reuse({ duration_s, prefix_reuse }: TraceStats, series: TraceSeries): Chart {
  const unit = timeUnit(duration_s);
  const { infinite_cache, lru_cache } = prefix_reuse;
  const line = (name: string, { share }: ReuseShare, tokens: Float64Array): Series => {
    return { name: `${name}: ${percent(share)}`, shape: 'line', points: shareSoFar(series, tokens, unit.size) };
  };
  const lines = [line('endless cache', infinite_cache, series.reusedTokens)];
  if (lru_cache !== undefined) lines.push(line(counted(lru_cache.blocks, 'block'), lru_cache, series.cachedTokens!));
  return {
    title: `Reusable prompt tokens${lines.length === 1 ? `: ${percent(infinite_cache.share)}` : ''}`,
    x: { title: `time, ${unit.name}`, scale: linearScale(0, (duration_s || 1) / unit.size) },
    y: { title: '% of input so far', scale: linearScale(0, 100) },
    series: lines,
  };
}

/**
 * For each of some values the per cent that are not larger. Values below 1 are drawn at 1, where a logarithmic axis
 * starts.
 */
function distribution(sorted: Float64Array): Point[] {
  const points = Math.min(MOST_POINTS, sorted.length);
  const upTo = Array.from({ length: points }, (_, i) => Math.ceil(((i + 1) * sorted.length) / points));
  return [
    [Math.max(1, sorted[0]!), 0],
    ...upTo.map((n): Point => [Math.max(1, sorted[n - 1]!), (100 * n) / sorted.length]),
  ];
}

/** Over time, the share of all prompt tokens up to then. */
function shareSoFar({ arrivalUs, inputTokens }: TraceSeries, tokens: Float64Array, unitSeconds: number): Point[] {
  const every = Math.max(1, Math.floor(arrivalUs.length / MOST_POINTS));
  const points: Point[] = [];
  let found = 0;
  let all = 0;
  for (let i = 0; i < arrivalUs.length; i++) {
    found += tokens[i]!;
    all += inputTokens[i]!;
    if (i % every !== 0 && i + 1 < arrivalUs.length) continue;
    points.push([(arrivalUs[i]! - arrivalUs[0]!) / 1e6 / unitSeconds, all === 0 ? 0 : (100 * found) / all]);
  }
  return points;
}
