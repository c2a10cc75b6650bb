import { getRouteApi } from '@tanstack/react-router';
import { useLive } from '../../api/live';
import { Button } from '../../parts/basics';
import { SearchField } from '../../parts/search-field';
import type { RequestSearch } from '../../shell/router';

const route = getRouteApi('/requests');

const OUTCOMES = [
  ['', 'Any outcome'],
  ['ok', 'Ok'],
  ['failed', 'All but ok'],
  ['refused', 'Refused'],
  ['upstream_error', 'Upstream error'],
  ['timeout', 'Timeout'],
  ['no_replica', 'No replica'],
  ['client_error', 'Client error'],
  ['client_left', 'Client left'],
] as const;
const SLOW = [
  ['', 'Any speed'],
  ['200', 'First token ≥ 200 ms'],
  ['500', 'First token ≥ 500 ms'],
  ['1000', 'First token ≥ 1 s'],
  ['5000', 'First token ≥ 5 s'],
] as const;
const RANGES = [
  ['', 'Any time'],
  ['900', 'Last 15 minutes'],
  ['3600', 'Last hour'],
  ['21600', 'Last 6 hours'],
  ['86400', 'Last 24 hours'],
] as const;
const TEXTS = ['id', 'replica', 'model', 'class', 'key'] as const;
const NAMES: Record<(typeof TEXTS)[number], string> = {
  id: 'Request id begins with',
  replica: 'Replica',
  model: 'Model',
  class: 'SLO class',
  key: 'Key id',
};

/** Filters are the address of the page: each change is a new address. */
export function RequestFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const endpoints = useLive(({ traffic }) => traffic)?.items ?? [];
  const set = (change: RequestSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const chosen = search.endpoint === undefined ? '' : `${search.workspace ?? ''}/${search.endpoint}`;
  return (
    <div className="filters">
      <select
        aria-label="Endpoint"
        value={chosen}
        onChange={({ target }) => {
          const [workspace, endpoint] = target.value.split('/');
          set({ workspace: workspace || undefined, endpoint: endpoint || undefined });
        }}
      >
        <option value="">All endpoints</option>
        {chosen === '' || endpoints.some((one) => `${one.workspace}/${one.name}` === chosen) ? null : (
          <option>{chosen}</option>
        )}
        {endpoints.map(({ name, workspace }) => (
          <option key={`${workspace}/${name}`}>{`${workspace}/${name}`}</option>
        ))}
      </select>
      <select
        aria-label="Outcome"
        value={search.outcome ?? ''}
        onChange={({ target }) => set({ outcome: target.value })}
      >
        {OUTCOMES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Time to first token"
        value={search.min_ttft_ms ?? ''}
        onChange={({ target }) => set({ min_ttft_ms: target.value })}
      >
        {SLOW.some(([value]) => value === (search.min_ttft_ms ?? '')) ? null : (
          <option value={search.min_ttft_ms}>{`First token ≥ ${search.min_ttft_ms} ms`}</option>
        )}
        {SLOW.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Ended within"
        value={search.within_s ?? ''}
        onChange={({ target }) => set({ within_s: target.value })}
      >
        {RANGES.some(([value]) => value === (search.within_s ?? '')) ? null : (
          <option value={search.within_s}>{`Last ${search.within_s} seconds`}</option>
        )}
        {RANGES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {TEXTS.map((name) => (
        <SearchField
          key={name}
          name={NAMES[name]}
          value={search[name] ?? ''}
          onChange={(value) => set({ [name]: value })}
        />
      ))}
      <Button look="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
        Clear
      </Button>
    </div>
  );
}
