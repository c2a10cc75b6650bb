import { differences, type FieldDifference } from '../../store/resources/resource-differences.js';
import { shownRef } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { withoutSealed } from '../../store/resources/secrets.js';

/** A declared resource. Secrets are encrypted. */
export interface Declared extends ResourceRef {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly labels: Readonly<Record<string, string>>;
}

export interface PlannedChange {
  readonly ref: ResourceRef;
  readonly action: 'created' | 'changed' | 'unchanged';
  /** What differs, without secrets; empty for one that is created. */
  readonly differences: readonly FieldDifference[];
}

/** The changes that reach the desired state. Resources that are not listed are left alone. */
export function plan(before: readonly Declared[], wanted: readonly Declared[]): PlannedChange[] {
  const present = new Map(before.map((one) => [shownRef(one), one]));
  return wanted.map((one) => {
    const { kind, name, workspace } = one;
    const ref = { kind, workspace, name };
    const was = present.get(shownRef(one));
    if (was === undefined) return { ref, action: 'created', differences: [] };
    const found = differences(contentOf(was), contentOf(one)).map(shown);
    return { ref, action: found.length === 0 ? 'unchanged' : 'changed', differences: merged(found) };
  });
}

const contentOf = ({ labels, spec }: Declared) => ({ metadata: { labels }, spec });

/** The encrypted form of a secret is not shown. */
function shown({ after, before, path }: FieldDifference): FieldDifference {
  const secret = path.endsWith('.$sealed');
  const hidden = (value: unknown) => (secret && value !== undefined ? '***' : withoutSealed(value));
  return { path: secret ? path.slice(0, -'.$sealed'.length) : path, before: hidden(before), after: hidden(after) };
}

/** One difference per path. */
function merged(found: readonly FieldDifference[]): FieldDifference[] {
  const seen = new Set<string>();
  return found.filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** A line per resource, and one per difference. */
export function planText(changes: readonly PlannedChange[], { isDryRun = false } = {}): string {
  return changes
    .map(({ action, differences, ref }) => {
      const lines = differences.map(
        ({ after, before, path }) => `  ${path}: ${valueText(before)} -> ${valueText(after)}`,
      );
      return `${[`${shownRef(ref)} ${isDryRun ? 'would be ' : ''}${action}`, ...lines].join('\n')}\n`;
    })
    .join('');
}

const LONGEST = 200;

function valueText(value: unknown): string {
  if (value === undefined) return '(absent)';
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}
