import { type Field, fieldsOf } from './field-table.js';
import type { ResourceKind } from './kind.js';
import { KINDS } from './kinds.js';

/** The part of docs/resources.md that is made from the kinds. */
export function resourceReference(): string {
  return KINDS.map(kindSection).join('\n');
}

function kindSection(kind: ResourceKind): string {
  const { changedBy, phases, plural, scope, shortNames, summary } = kind;
  const called = [plural, ...shortNames].map((name) => `\`${name}\``).join(', ');
  const where = scope === 'global' ? 'Belongs to no workspace' : 'Belongs to a workspace';
  const facts = `${summary} Also called ${called}. ${where}; changed by ${changedBy === 'admin' ? 'an admin' : 'an operator'}.`;
  const stands = `Phases: ${phases.join(', ')}.`;
  return `### ${kind.kind}\n\n${facts}\n${stands}\n\n${table(fieldsOf(kind))}`;
}

function table(fields: readonly Field[]): string {
  const rows = [
    ['field of `spec`', 'takes', 'without it', 'meaning'],
    ...fields.map(({ description, path, takes, without }) => [`\`${path}\``, takes, without, description]),
  ].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}
