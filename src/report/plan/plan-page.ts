import type { PlanDocument, PlannedCandidate } from '../../experiment/plan/plan-document.js';
import type { PlanPoint } from '../../experiment/plan/plan-point.js';
import type { Slo } from '../../experiment/plan/slo.js';
import type { Point } from '../chart/chart.js';
import { drawPanel, type PanelLine } from '../chart/panel.js';
import { least, linearScale, logScale, most } from '../chart/scale.js';
import { escaped } from '../chart/svg.js';
import { CHART_STYLE, COLOURS } from '../page/chart-style.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { nextTo, planRows } from './plan-table.js';
import { measureName, replicasText, sloText } from './plan-text.js';

const PANEL = { width: 640, height: 360 };
/** The SLO is drawn in the last colour of the page. */
const SLO_COLOUR = COLOURS - 1;

/** The plan as one page that needs nothing else: the verdict, its picture, the table, then what to know of it. */
export function planPage(document: PlanDocument): string {
  const { plan, verdict } = document;
  const charts = plan.slos.map((slo) => loadCurve(document, slo)).filter((chart) => chart !== '');
  const parts = [
    `<h1>${escaped(verdict)}</h1>`,
    charts.length === 0 ? '' : `${legend(document)}<div class="panels">\n${charts.join('\n')}\n</div>`,
    `<div class="scroll">${htmlTable(planRows(document))}</div>`,
    list('One more or one less', nextTo(document)),
    list('What was done', [...plan.notes, ...methodOf(document)]),
    `<h2>The command</h2>\n<p><code>${escaped(plan.command)}</code></p>`,
  ];
  return htmlPage(`Plan for ${plan.model}`, parts.filter((part) => part !== '').join('\n'), CHART_STYLE);
}

const valueAt = (point: PlanPoint, slo: Slo) => point.latencies.find(({ of, at }) => of === slo.of && at === slo.at)!;

/** The latency of an SLO against the load, for every fleet, with the SLO drawn in. */
function loadCurve({ candidates }: PlanDocument, slo: Slo): string {
  const lines = candidates.flatMap((candidate, i): PanelLine[] => {
    const points = (candidate.plan?.curve ?? []).filter((point) => valueAt(point, slo).ms !== null);
    if (points.length === 0) return [];
    const values = points.map((point) => valueAt(point, slo));
    return [
      {
        name: nameOf(candidate),
        colour: i % (COLOURS - 1),
        points: points.map((point, at): Point => [point.rate, values[at]!.ms!]),
        spans: values.map(({ ms, low, high }) => [low ?? ms!, high ?? ms!]),
        dots: true,
      },
    ];
  });
  if (lines.length === 0) return '';
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const ys = [...lines.flatMap(({ spans }) => spans!.flat()), slo.limitMs];
  const limit: PanelLine = {
    name: sloText(slo),
    colour: SLO_COLOUR,
    points: [
      [0, slo.limitMs],
      [most(xs), slo.limitMs],
    ],
  };
  return drawPanel(
    {
      title: `${measureName(slo)} against load, and the SLO`,
      x: { title: 'requests/s', scale: linearScale(0, most(xs)) },
      y: { title: 'ms', scale: logScale(Math.max(0.001, least(ys)), most(ys)) },
      lines: [...lines, limit],
    },
    PANEL,
  );
}

function nameOf({ gpu, tp, policy, plan }: PlannedCandidate): string {
  return `${replicasText(plan!.replicas!)} of ${gpu}, tp ${tp}, ${policy}`;
}

function legend({ candidates, plan }: PlanDocument): string {
  const drawn = candidates.flatMap((candidate, i) =>
    (candidate.plan?.curve ?? []).length === 0 ? [] : [[nameOf(candidate), i % (COLOURS - 1)] as const],
  );
  const items = [...drawn, [plan.slos.map(sloText).join(', '), SLO_COLOUR] as const].map(
    ([name, colour]) => `<li><span class="swatch c${colour}"></span>${escaped(name)}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>\n`;
}

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<h2>${escaped(title)}</h2>\n<ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`;
}

function methodOf({ plan, candidates }: PlanDocument): string[] {
  const errors = [...new Set(candidates.flatMap(({ modelError }) => (modelError === null ? [] : [modelError])))];
  return [
    `Every fleet and load is simulated with the seeds ${plan.seeds.join(', ')}; the warm-up and the last arrivals are left out, and runs are lengthened until their backlog does not grow or is seen to grow.`,
    ...(errors.length === 0
      ? ['The latency model states no error: calibrate it, or add a margin.']
      : [`The ranges of fleets allow for ${errors.join(', and for ')}.`]),
  ];
}
