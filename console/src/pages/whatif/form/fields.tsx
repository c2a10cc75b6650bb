import { getRouteApi } from '@tanstack/react-router';
import type { WhatIfSearch } from '../../../shell/router';

const route = getRouteApi('/whatif');

export type Parameter = Exclude<keyof WhatIfSearch, 'ask' | 'workspace' | 'endpoint' | 'job' | 'switch'>;

/** A parameter of the address: empty text takes it out. A new question is about requests up to now. */
export function useParameter(name: Parameter): [string, (value: string) => void] {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (value: string) =>
    void navigate({
      search: (before) => ({ ...before, to: undefined, [name]: value === '' ? undefined : value }),
      replace: true,
    });
  return [search[name] ?? '', set];
}

interface ChoiceProps {
  readonly name: Parameter;
  readonly label: string;
  readonly values: readonly string[];
  /** Chosen when the address has none. */
  readonly standard?: string;
  /** The choice of none, in words. */
  readonly none?: string;
  readonly shown?: (value: string) => string;
}

export function Choice({ label, name, none, shown = (value) => value, standard = '', values }: ChoiceProps) {
  const [value, set] = useParameter(name);
  const chosen = value === '' ? standard : value;
  return (
    <label className="field">
      <span>{label}</span>
      <select value={chosen} onChange={({ target }) => set(target.value === standard ? '' : target.value)}>
        {none === undefined ? null : <option value="">{none}</option>}
        {(chosen === '' || values.includes(chosen) ? values : [chosen, ...values]).map((one) => (
          <option key={one} value={one}>
            {shown(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProps {
  readonly name: Parameter;
  readonly label: string;
  readonly placeholder?: string;
  readonly type?: 'text' | 'number';
  readonly step?: 'any';
  readonly required?: true;
}

export function Field({ label, name, type = 'text', ...rest }: FieldProps) {
  const [value, set] = useParameter(name);
  return (
    <label className="field">
      <span>{label}</span>
      <input
        {...rest}
        type={type}
        {...(type === 'number' ? { min: rest.step === 'any' ? 0 : 1 } : {})}
        value={value}
        onChange={({ target }) => set(target.value)}
      />
    </label>
  );
}
