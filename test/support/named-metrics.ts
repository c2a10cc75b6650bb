/** A metric as a PromQL expression names it, with the labels that the expression uses on it. */
export interface NamedMetric {
  readonly metric: string;
  readonly labels: readonly string[];
}

const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'and', 'or', 'unless', 'bool']);
/** A name with its matchers; not a function, and not a label list. */
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(?!\s*\(|[\w:])/g;
const GROUPED = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;

/** Every metric that an expression names, with the labels of its matchers and of all groupings of the expression. */
export function metricsIn(expr: string): NamedMetric[] {
  const grouped = [...expr.matchAll(GROUPED)].flatMap(([, list]) => namesIn(list!));
  const rest = expr.replace(GROUPED, ' ').replace(/\[[^\]]*\]/g, ' ');
  return [...rest.matchAll(SELECTOR)]
    .filter(([, name]) => !WORDS.has(name!))
    .map(([, metric, matchers = '']) => ({
      metric: metric!,
      labels: [...[...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!), ...grouped],
    }));
}

/** Labels that an expression leaves on its result; null when it keeps all. */
export function groupingOf(expr: string): readonly string[] | null {
  const lists = [...expr.matchAll(GROUPED)].map(([, list]) => namesIn(list!));
  return lists.length === 0 ? null : lists.flat();
}

/** The labels that a legend or an annotation prints: `{{endpoint}}`, `{{ $labels.endpoint }}`. */
export function labelsPrinted(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label!);
}

const namesIn = (list: string) => list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
