import { entriesOf, type Schema } from '../../schema/facts.js';
import { sectionsOf } from '../../schema/field-rows.js';
import { ARRIVAL_PROCESSES } from '../../workload/arrivals/registry.js';
import { LENGTH_DISTRIBUTIONS } from '../../workload/lengths/registry.js';
import { SPEC } from '../../workload/spec/spec-schema.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';
import { keyTable } from './schema-tables.js';

/** Every key of a workload specification, from the table by which the program itself reads one. */
export function workloadPage(): string {
  const sections = sectionsOf(SPEC as Schema);
  return `${madeFrom('src/workload/spec/spec-schema.ts')}
# Workload specifications: every key

[Workloads](workloads.md) is the guide. Keys that are not listed here are refused. Times are whole microseconds unless a
key's name says otherwise. A key that is needed has no default.

## The top

${keyTable(SPEC as Schema)}
${[...sections].map(([title, section]) => `## ${title}\n\n${sectionText(title, section, sections.get('clients')!)}`).join('\n')}
## Arrival processes

Gaps are cut to whole microseconds, at least 1; the first request comes one gap after the start.

${markdownTable([
  ['process', '`cv`', 'what it is'],
  ...ARRIVAL_PROCESSES.map(({ name, cv, summary }) => [
    code(name),
    cv === null ? 'none' : `${cv.min} to ${cv.max}`,
    plain(summary),
  ]),
])}
## Distributions of lengths

Every drawn value is cut at \`min\` and \`max\`, rounded, and at least 1 (counts, pauses and percentages: at least 0).

${markdownTable([['type', 'params', 'what it is'], ...LENGTH_DISTRIBUTIONS.flatMap(distributionRows)])}`;
}

function distributionRows({ name, summary, parameters }: (typeof LENGTH_DISTRIBUTIONS)[number]): string[][] {
  if (parameters === null) return [[code(name), 'lengths, each with its share', plain(summary)]];
  const rows = Object.entries(parameters).map(([parameter, { needed, help }]) => [
    '',
    `${code(parameter)}${needed ? '' : ', optional'}`,
    plain(help),
  ]);
  return [[code(name), '', plain(summary)], ...rows];
}

/** A cohort has most of its keys from a client: only the others are listed again. */
function sectionText(title: string, section: Schema, clients: Schema): string {
  if (title !== 'cohorts') return keyTable(section);
  const ofClients = entriesOf(clients)!;
  const isShared = (name: string) => ofClients[name] === entriesOf(section)![name];
  const shared = Object.keys(entriesOf(section)!).filter(isShared);
  return `As of [clients](#clients): ${shared.map(code).join(', ')}. And:\n\n${keyTable(section, (name) => !isShared(name))}`;
}
