import { accepted, type Key, type Keys, type Kind } from '../../kernel/yaml/schema.js';
import { code, markdownTable, plain } from './markdown.js';

/** A part of a file that has keys of its own. */
export type Section = Extract<Kind, { type: 'keys' }>;

/** All parts below a part, each once, in the order in which they are first named. */
export function sectionsOf(top: Section): Section[] {
  const found = new Set<Section>();
  const visit = (kind: Kind) => {
    if (kind.type === 'list' || kind.type === 'each') return visit(kind.of);
    if (kind.type !== 'keys' || found.has(kind)) return;
    if (kind !== top) found.add(kind);
    for (const key of Object.values(kind.keys)) visit(key.kind);
  };
  visit(top);
  return [...found];
}

/** Keys with what they take, what holds without them and what they mean. */
export function keyTable(keys: Keys): string {
  const rows = Object.entries(keys).map(([name, key]) => [
    code(name),
    values(key.kind),
    key.needed ? 'needed' : (key.default ?? ''),
    key.help,
  ]);
  return markdownTable([['key', 'values', 'default', 'meaning'], ...rows]);
}

function values(kind: Key['kind']): string {
  if (kind.type === 'keys') return sectionLink(kind);
  if (kind.type === 'list') return `list of ${sectionLink(kind.of)}`;
  if (kind.type === 'each') return kind.of.type === 'keys' ? `${kind.name}: ${values(kind.of)}` : plain(kind.name);
  return plain(accepted(kind));
}

function sectionLink({ title }: Section): string {
  return `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`;
}
