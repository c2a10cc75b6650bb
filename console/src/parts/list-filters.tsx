import { SearchField } from './search-field';

const SORTS = [
  ['name', 'Name'],
  ['-name', 'Name, reversed'],
  ['-created', 'Latest first'],
  ['created', 'Oldest first'],
] as const;

export interface ListQuery {
  readonly search?: string | undefined;
  readonly phase?: string | undefined;
  readonly sort?: string | undefined;
}

interface ListFiltersProps {
  readonly query: ListQuery;
  readonly phases: readonly string[];
  readonly onChange: (change: ListQuery) => void;
}

/** What the server lists of a kind of resources, and in which order. */
export function ListFilters({ onChange, phases, query: { phase = '', search = '', sort = 'name' } }: ListFiltersProps) {
  return (
    <div className="filters">
      <SearchField name="Name contains" value={search} onChange={(value) => onChange({ search: value })} />
      <select aria-label="State" value={phase} onChange={({ target }) => onChange({ phase: target.value })}>
        <option value="">Any state</option>
        {phases.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <select aria-label="Order" value={sort} onChange={({ target }) => onChange({ sort: target.value })}>
        {SORTS.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
