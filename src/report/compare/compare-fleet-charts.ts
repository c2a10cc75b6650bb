import type { ComparedVariant, Comparison, VariantCurves } from '../../experiment/comparison/comparison.js';
import type { Point } from '../chart/chart.js';
import { drawPanel, type PanelLine } from '../chart/panel.js';
import { linearScale, most, type Scale } from '../chart/scale.js';
import { colourOf } from './compare-charts.js';

const PANEL = { width: 350, height: 220 };

/** Of the variants at the last step of the axis: there differences are largest, and the page stays readable. */
export function shownVariants({ document, curves }: Comparison): { variant: ComparedVariant; curves: VariantCurves }[] {
  const last = most(document.variants.map(({ x }) => x ?? 0));
  return document.variants
    .map((variant, i) => ({ variant, curves: curves[i]! }))
    .filter(({ variant }) => (variant.x ?? last) === last);
}

/** For each variant, the share of requests that each replica got; empty for fleets too large to list. */
export function targetCharts(comparison: Comparison): string[] {
  const shown = shownVariants(comparison).flatMap(({ variant }) => {
    const total = (variant.targets ?? []).reduce((sum, count) => sum + count, 0);
    const colour = colourOf(comparison.document, variant);
    return total === 0
      ? []
      : { name: variant.name, colour, shares: variant.targets!.map((count) => (100 * count) / total) };
  });
  const highest = most(shown.flatMap(({ shares }) => shares));
  return shown.map(({ name, colour, shares }) => {
    const lines = shares.map(
      (share, i): PanelLine => ({
        name: `instance_${i}: ${share.toFixed(1)} %`,
        colour,
        points: [
          [i, 0],
          [i, share],
        ],
        width: 'bar',
      }),
    );
    return drawPanel(
      {
        title: name,
        x: { title: 'instance', scale: instanceScale(shares.length) },
        y: { title: '% of requests', scale: linearScale(0, highest) },
        lines,
      },
      PANEL,
    );
  });
}

/** Space for a bar of each replica, marked by its number. */
function instanceScale(instances: number): Scale {
  const every = Math.ceil(instances / 16);
  const ticks = Array.from({ length: instances }, (_, i) => i).filter((i) => i % every === 0);
  return { ticks, at: (instance) => (instance + 0.5) / instances };
}

/** For each variant, the requests at each replica over time, with the first seed. All panels have the same axes. */
export function loadCharts(comparison: Comparison): string[] {
  const shown = shownVariants(comparison).map(({ variant, curves }) => {
    return { name: variant.name, colour: colourOf(comparison.document, variant), load: curves.load };
  });
  const highest = most(shown.flatMap(({ load }) => load.rows.map((row) => most(row))));
  const longest = most(shown.map(({ load }) => (load.stepUs * load.rows[0]!.length) / 1e6));
  return shown.map(({ name, colour, load }) => {
    const lines = load.rows.map(
      (row, i): PanelLine => ({
        name: load.kind === 'instances' ? `instance_${i}` : RANGE[i]!,
        colour,
        width: 'thin',
        points: row.map((value, step): Point => [((step + 0.5) * load.stepUs) / 1e6, value]),
      }),
    );
    return drawPanel(
      {
        title: name,
        x: { title: 'time, s', scale: linearScale(0, longest) },
        y: { title: 'requests', scale: linearScale(0, highest) },
        lines,
      },
      PANEL,
    );
  });
}

/** The rows of a large fleet. */
const RANGE = ['idlest instance', 'mean', 'busiest instance'];

/** Whether any of the charts shows a range instead of replicas. */
export function showsRange(comparison: Comparison): boolean {
  return comparison.curves.some(({ load }) => load.kind === 'range');
}
