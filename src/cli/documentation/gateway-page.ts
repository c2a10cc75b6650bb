import { MEASURED_ENGINES } from '../../engines/registry.js';
import { GATEWAY_SCHEMA } from '../../gateway/config/config-schema.js';
import type { Schema } from '../../schema/facts.js';
import { sectionsOf } from '../../schema/field-rows.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';
import { keyTable } from './schema-tables.js';

/** Every key of twinyard.yaml, from the table by which the program itself reads it. */
export function gatewayPage(): string {
  const sections = [...sectionsOf(GATEWAY_SCHEMA as Schema)];
  return `${madeFrom('src/gateway/config/config-schema.ts')}
# twinyard.yaml: every key

[The gateway](gateway.md) is the guide. Keys that are not listed here are refused. Files are relative to the one that names
them. A key that is needed has no default.

## The top

${keyTable(GATEWAY_SCHEMA as Schema)}
${sections.map(([title, section]) => `## ${title}\n\n${keyTable(section)}`).join('\n')}
## Engines

${markdownTable([
  ['engine', 'what it is', 'signals it gives'],
  ...MEASURED_ENGINES.map(({ name, signals, summary }) => [
    code(name),
    plain(summary),
    signals.gives.map(code).join(', '),
  ]),
])}`;
}
