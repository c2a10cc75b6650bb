import type { RequestTable } from '../request-table.js';
import type { ClientSpec, CohortSpec, LengthSpec, WorkloadSpec } from '../spec/workload-spec.js';

/** Building blocks of specifications in tests. */
export const fixed = (value: number): LengthSpec => ({ type: 'constant', params: { value } });
export const spread: LengthSpec = { type: 'gaussian', params: { mean: 200, std_dev: 60, min: 1, max: 1000 } };

export function client(id: string, more: Partial<ClientSpec> = {}): ClientSpec {
  return { id, input_distribution: fixed(100), output_distribution: fixed(10), ...more };
}

export function cohort(id: string, population: number, more: Partial<CohortSpec> = {}): CohortSpec {
  return { id, population, input_distribution: fixed(100), output_distribution: fixed(10), ...more };
}

export function specOf(clients: ClientSpec[], more: Partial<WorkloadSpec> = {}): WorkloadSpec {
  return { version: '2', aggregate_rate: 10, ...(clients.length === 0 ? {} : { clients }), ...more };
}

export function rowsOf(table: RequestTable): number[] {
  return Array.from({ length: table.count }, (_, row) => row);
}

/** The rows of a client, or of all members of a cohort, in order. */
export function rowsFrom(table: RequestTable, id: string): number[] {
  return rowsOf(table).filter((row) => {
    const name = table.clients.name(table.client[row]!);
    return name === id || name.startsWith(`${id}/`);
  });
}

export function column<T>(rows: readonly number[], from: ArrayLike<T>): T[] {
  return rows.map((row) => from[row]!);
}
