import type { PlanDocument, PlannedCandidate } from '../../experiment/plan/plan-document.js';
import type { PlanPoint } from '../../experiment/plan/plan-point.js';
import type { Slo } from '../../experiment/plan/slo.js';
import { drawLoadCurve } from '../chart/load-curve.js';
import { escaped } from '../chart/svg.js';
import { CHART_STYLE, COLOURS } from '../page/chart-style.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { nextTo, planRows } from './plan-table.js';
import { candidateName, measureName, sloText } from './plan-text.js';

/** The plan as one page that needs nothing else: the verdict, its picture, the table, then what to know of it. */
export function planPage(document: PlanDocument): string {
  const { plan, verdict } = document;
  const charts = plan.slos.map((slo) => loadCurve(document, slo)).filter((chart) => chart !== '');
  const parts = [
    `<h1>${escaped(verdict)}</h1>`,
    ...charts.map((chart) => `<div class="picture">${chart}</div>`),
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
  const withPolicy = new Set(candidates.map(({ policy }) => policy)).size > 1;
  return drawLoadCurve({
    title: `${measureName(slo)} against load, and the SLO`,
    x: 'requests/s',
    y: `${measureName(slo)}, ms`,
    limit: { value: slo.limitMs, text: `SLO ${sloText(slo)}` },
    series: candidates.map((candidate, i) => ({
      name: candidate.plan?.replicas == null ? '' : nameOf(candidate, withPolicy),
      colour: i % COLOURS,
      points: (candidate.plan?.curve ?? []).flatMap((point) => {
        const { ms, low, high } = valueAt(point, slo);
        if (ms === null) return [];
        return { x: point.rate, value: ms, low: low ?? ms, high: high ?? ms, saturated: point.why === 'backlog' };
      }),
    })),
  });
}

/** Short: it stands beside its curve. */
function nameOf(candidate: PlannedCandidate, withPolicy: boolean): string {
  const { fleet, gpusPerReplica, plan, policy } = candidate;
  const name = candidateName(candidate);
  const size = fleet === undefined ? `${plan!.replicas! * gpusPerReplica} ${name}` : name;
  return withPolicy ? `${size}, ${policy}` : size;
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
