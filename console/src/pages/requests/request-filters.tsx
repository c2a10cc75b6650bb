import { getRouteApi } from '@tanstack/react-router';
import { useLive } from '../../api/live';
import { Button } from '../../parts/basics';
import { SearchField } from '../../parts/search-field';
import { TimeField } from '../../parts/time-field';
import type { RequestSearch } from '../../shell/router';
import { KeyField } from './key-field';

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
const LONG = [
  ['', 'Any duration'],
  ['1000', 'Took ≥ 1 s'],
  ['5000', 'Took ≥ 5 s'],
  ['10000', 'Took ≥ 10 s'],
  ['60000', 'Took ≥ 1 min'],
] as const;
const RANGES = [
  ['', 'Any time'],
  ['900', 'Last 15 minutes'],
  ['3600', 'Last hour'],
  ['21600', 'Last 6 hours'],
  ['86400', 'Last 24 hours'],
] as const;
/** Without the workspace too, which other links keep. */
export const ALL: RequestSearch = { workspace: undefined };
const TEXTS = ['id', 'replica', 'model', 'class'] as const;
const NAMES: Record<(typeof TEXTS)[number], string> = {
  id: 'Request id begins with',
  replica: 'Replica',
  model: 'Model',
  class: 'SLO class',
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
      <Choice
        name="Outcome"
        value={search.outcome}
        choices={OUTCOMES}
        other={(value) => value}
        onChange={(outcome) => set({ outcome })}
      />
      <Choice
        name="Time to first token"
        value={search.min_ttft_ms}
        choices={SLOW}
        other={(value) => `First token ≥ ${value} ms`}
        onChange={(least) => set({ min_ttft_ms: least })}
      />
      <Choice
        name="Duration"
        value={search.min_duration_ms}
        choices={LONG}
        other={(value) => `Took ≥ ${value} ms`}
        onChange={(least) => set({ min_duration_ms: least })}
      />
      <Choice
        name="Ended within"
        value={search.within_s}
        choices={RANGES}
        other={(value) => `Last ${value} seconds`}
        onChange={(seconds) => set({ within_s: seconds, from: undefined, to: undefined })}
      />
      {TEXTS.map((name) => (
        <SearchField
          key={name}
          name={NAMES[name]}
          value={search[name] ?? ''}
          onChange={(value) => set({ [name]: value })}
        />
      ))}
      <KeyField value={search.key} workspace={search.workspace} onChange={(key) => set({ key })} />
      <TimeField name="Ended from" value={search.from} onChange={(from) => set({ from, within_s: undefined })} />
      <TimeField name="Ended before" value={search.to} onChange={(to) => set({ to, within_s: undefined })} />
      <Button look="quiet" onClick={() => void navigate({ search: ALL, replace: true })}>
        Clear
      </Button>
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string | undefined;
  readonly choices: readonly (readonly [value: string, name: string])[];
  /** The name of a value that the address has, and the list has not. */
  readonly other: (value: string) => string;
  readonly onChange: (value: string) => void;
}

function Choice({ choices, name, onChange, other, value = '' }: ChoiceProps) {
  return (
    <select aria-label={name} value={value} onChange={({ target }) => onChange(target.value)}>
      {choices.some(([one]) => one === value) ? null : <option value={value}>{other(value)}</option>}
      {choices.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}
