import { useGet } from '../../api/queries';
import type { Page } from '../../api/types';
import type { LabSearch } from '../../shell/router';
import { NO_POLICY } from './lab-question';

interface PolicyFacts {
  readonly name: string;
  readonly summary: string;
}

interface PolicyPickerProps {
  /** In the order in which they were chosen: the others are compared with the first. */
  readonly chosen: readonly string[];
  readonly most: number;
  readonly set: (change: LabSearch) => void;
}

/** The policies of an experiment. Those of the address that have scorers of their own are kept. */
export function PolicyPicker({ chosen, most, set }: PolicyPickerProps) {
  const { data } = useGet<Page<PolicyFacts>>('policies?limit=100');
  const known = data?.items ?? [];
  const own = chosen.filter((name) => !known.some((one) => one.name === name));
  const all = [...known, ...own.map((name) => ({ name, summary: 'as the address has it' }))];
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    set({ policies: next.join(',') || NO_POLICY });
  };
  const isFull = chosen.length >= most;
  return (
    <fieldset>
      <legend>Policies</legend>
      <p className="muted">
        {chosen.length} of at most {most}
        {chosen.length > 1 ? `; the others are compared with ${chosen[0]}` : ''}
      </p>
      <div className="picks">
        {all.map(({ name, summary }) => (
          <label key={name} title={summary} className="pick">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              disabled={isFull && !chosen.includes(name)}
              onChange={() => toggle(name)}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
