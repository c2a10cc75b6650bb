import type { Keys } from '../../kernel/yaml/schema.js';
import { ARRIVAL_PROCESSES } from '../../workload/arrivals/registry.js';
import { LENGTH_DISTRIBUTIONS } from '../../workload/lengths/registry.js';
import { SPEC } from '../../workload/spec/spec-schema.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';
import { keyTable, type Section, sectionsOf } from './schema-tables.js';

/** Every key of a workload specification, from the table by which the program itself reads one. */
export function workloadPage(): string {
  const sections = sectionsOf(SPEC);
  return `${madeFrom('src/workload/spec/spec-schema.ts')}
# Workload specifications: every key

[Workloads](workloads.md) is the guide. Keys that are not listed here are refused. Times are whole microseconds unless a
key's name says otherwise. A key that is needed has no default.

## The top

${keyTable(SPEC.keys)}
${sections.map((section) => `## ${section.title}\n\n${introduction(section, sections)}${keyTable(ownKeys(section, sections))}`).join('\n')}
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

Whatever is drawn is cut at \`min\` and \`max\`, rounded, and at least 1 (counts, pauses and percentages: at least 0).

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
function ownKeys(section: Section, sections: readonly Section[]): Keys {
  const clients = sections.find(({ title }) => title === 'clients')!;
  if (section.title !== 'cohorts') return section.keys;
  return Object.fromEntries(Object.entries(section.keys).filter(([name, key]) => clients.keys[name] !== key));
}

function introduction(section: Section, sections: readonly Section[]): string {
  if (section.title !== 'cohorts') return '';
  const own = Object.keys(ownKeys(section, sections));
  const shared = Object.keys(section.keys).filter((name) => !own.includes(name));
  return `As of [clients](#clients): ${shared.map(code).join(', ')}. And:\n\n`;
}
