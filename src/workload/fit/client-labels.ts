import type { RequestTable } from '../request-table.js';

/** Which requests come from the same client. */
export interface ClientLabels {
  /** By row: a number for its client, tenant, class and model. */
  labels: Int32Array;
  /** Numbers shared by several clients with few requests, of the same class and model. */
  mixed: ReadonlySet<number>;
}

/** Recorded clients beyond this number are not distinguished. */
const MOST_CLIENTS = 32;

export function clientLabels(table: RequestTable): ClientLabels {
  const { client, count, model, sloClass, tenant } = table;
  const numbers = new Map<string, number>();
  const rowsOf: number[] = [];
  const kinds: string[] = [];
  const labels = new Int32Array(count);
  for (let row = 0; row < count; row++) {
    const kind = `${sloClass[row]}/${model[row]}`;
    const key = `${client[row]}/${tenant[row]}/${kind}`;
    let label = numbers.get(key);
    if (label === undefined) {
      label = rowsOf.push(0) - 1;
      kinds.push(kind);
      numbers.set(key, label);
    }
    rowsOf[label]!++;
    labels[row] = label;
  }
  if (rowsOf.length <= MOST_CLIENTS) return { labels, mixed: new Set() };
  const byRows = rowsOf.map((_, label) => label).sort((a, b) => rowsOf[b]! - rowsOf[a]! || a - b);
  const kept = new Set(byRows.slice(0, MOST_CLIENTS - 1));
  const firstOfKind = new Map<string, number>();
  const joined = rowsOf.map((_, label) => {
    if (kept.has(label)) return label;
    const first = firstOfKind.get(kinds[label]!) ?? label;
    firstOfKind.set(kinds[label]!, first);
    return first;
  });
  return { labels: labels.map((label) => joined[label]!), mixed: new Set(firstOfKind.values()) };
}

/** The name of a row's client: the best one that the trace has. */
export function clientName(table: RequestTable, row: number): string {
  return (
    table.clients.name(table.client[row]!) ||
    table.tenants.name(table.tenant[row]!) ||
    table.sloClasses.name(table.sloClass[row]!) ||
    'requests'
  );
}
