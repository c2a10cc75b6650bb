import { FAMILIES } from '../../gateway/telemetry/metric-families.js';
import { METRIC_GROUPS } from '../../gateway/telemetry/metric-family.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';

/** Every metric of the gateway, from the table that the program itself uses. */
export function metricsPage(): string {
  const families = Object.values(FAMILIES);
  const sections = METRIC_GROUPS.map((group) => {
    const rows = families
      .filter((family) => family.group === group)
      .map(({ help, labels, name, type }) => [code(name), type, labels.map(code).join(', '), plain(help)]);
    return `## ${group}\n\n${markdownTable([['metric', 'type', 'labels', 'what'], ...rows])}`;
  });
  return `${madeFrom('src/gateway/telemetry/metric-families.ts')}
# Metrics of the gateway

[Telemetry](telemetry.md) is the guide: how to read them, and which to be woken by. Metrics of what is switched off are left
out.

${sections.join('\n')}`;
}
