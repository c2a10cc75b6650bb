export interface Difference {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Where two JSON values differ. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isMap(before) && isMap(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differencesOf(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  return [{ path, before, after }];
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** What a change does, before it is made. */
export function Differences({ items }: { readonly items: readonly Difference[] }) {
  if (items.length === 0) return <p className="muted">Nothing changes.</p>;
  return (
    <ul className="diff">
      {items.map(({ after, before, path }) => (
        <li key={path}>
          <code className="diff-path">{path}</code>
          {before === undefined ? null : (
            <code className="diff-before">
              <span className="visually-hidden">before: </span>- {shown(before)}
            </code>
          )}
          {after === undefined ? null : (
            <code className="diff-after">
              <span className="visually-hidden">after: </span>+ {shown(after)}
            </code>
          )}
        </li>
      ))}
    </ul>
  );
}
