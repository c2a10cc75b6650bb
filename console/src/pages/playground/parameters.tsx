import { getRouteApi } from '@tanstack/react-router';
import type { PlaygroundSearch } from '../../shell/router';
import type { ChatParameters } from './stream-chat';

const route = getRouteApi('/playground');
const DEFAULT_TOKENS = 256;

interface NumberParameter {
  readonly name: 'max_tokens' | 'temperature' | 'top_p' | 'presence_penalty' | 'frequency_penalty' | 'seed';
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

const NUMBERS: readonly NumberParameter[] = [
  { name: 'max_tokens', label: 'Most tokens', min: 1, max: 1_000_000, step: 1 },
  { name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 0.1 },
  { name: 'top_p', label: 'Top p', min: 0, max: 1, step: 0.05 },
  { name: 'presence_penalty', label: 'Presence penalty', min: -2, max: 2, step: 0.1 },
  { name: 'frequency_penalty', label: 'Frequency penalty', min: -2, max: 2, step: 0.1 },
  { name: 'seed', label: 'Seed', min: 0, max: 2 ** 31 - 1, step: 1 },
];

/** The parameters in the address; those that are not given, or are no numbers, are left to the engine. */
export function parametersIn(search: PlaygroundSearch): ChatParameters {
  const given = NUMBERS.flatMap(({ max, min, name }) => {
    const value = Number(search[name]);
    return search[name] === undefined || !(value >= min && value <= max) ? [] : [[name, value] as const];
  });
  const stop =
    search.stop
      ?.split('|')
      .filter((one) => one !== '')
      .slice(0, 4) ?? [];
  return { max_tokens: DEFAULT_TOKENS, ...Object.fromEntries(given), ...(stop.length === 0 ? {} : { stop }) };
}

/** The system prompt and the parameters. They are in the address: a link has them. */
export function Parameters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: PlaygroundSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <>
      <label className="field field-wide">
        <span>System prompt</span>
        <input value={search.system ?? ''} onChange={({ target }) => set({ system: target.value })} />
      </label>
      {NUMBERS.map(({ label, max, min, name, step }) => (
        <label key={name} className="field">
          <span>{label}</span>
          <input
            type="number"
            min={min}
            max={max}
            step={step}
            placeholder={name === 'max_tokens' ? String(DEFAULT_TOKENS) : 'as the engine has it'}
            value={search[name] ?? ''}
            onChange={({ target }) => set({ [name]: target.value })}
          />
        </label>
      ))}
      <label className="field">
        <span>Stop at, separated by |</span>
        <input value={search.stop ?? ''} onChange={({ target }) => set({ stop: target.value })} />
      </label>
    </>
  );
}
