import { useGet } from '../api/queries';
import type { Page } from '../api/types';
import type { JsonSchema } from './schema-form/json-schema';

/** A policy to choose, as the API lists it. */
export interface PolicyFacts {
  readonly name: string;
  readonly summary: string;
  readonly options: JsonSchema;
}

export const usePolicies = (kind: 'policies' | 'admission-policies' = 'policies') =>
  useGet<Page<PolicyFacts>>(`${kind}?limit=100`, { isFixed: true }).data?.items ?? [];

interface PolicyPickerProps {
  /** In the order in which they were chosen. Those that are not known are kept. */
  readonly chosen: readonly string[];
  readonly most: number;
  readonly note: string;
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Several policies at once. */
export function PolicyPicker({ chosen, most, note, onChange }: PolicyPickerProps) {
  const known = usePolicies();
  const own = chosen.filter((name) => !known.some((one) => one.name === name));
  const all = [...known, ...own.map((name) => ({ name, summary: 'as the address has it' }))];
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  const isFull = chosen.length >= most;
  return (
    <fieldset>
      <legend>Policies</legend>
      <p className="muted">
        {chosen.length} of at most {most}
        {note === '' ? '' : `; ${note}`}
      </p>
      <PolicyBoxes known={all} chosen={chosen} isFull={isFull} onToggle={toggle} />
    </fieldset>
  );
}

interface PolicyBoxesProps {
  readonly known: readonly Pick<PolicyFacts, 'name' | 'summary'>[];
  readonly chosen: readonly string[];
  /** No more can be chosen. */
  readonly isFull: boolean;
  readonly onToggle: (name: string) => void;
}

export function PolicyBoxes({ chosen, isFull, known, onToggle }: PolicyBoxesProps) {
  return (
    <div className="picks">
      {known.map(({ name, summary }) => (
        <label key={name} title={summary} className="pick">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            disabled={isFull && !chosen.includes(name)}
            onChange={() => onToggle(name)}
          />
          <span>{name}</span>
        </label>
      ))}
    </div>
  );
}
