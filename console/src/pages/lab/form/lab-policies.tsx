import { Button } from '../../../parts/basics';
import { policyWord, readPolicy } from '../../../parts/policy-options';
import { PolicyBoxes } from '../../../parts/policy-picker';
import type { LabSearch } from '../../../shell/router';
import type { LabPolicy } from '../lab-document';
import { NO_POLICY } from './lab-question';
import { hasOptions, OptionForm } from './option-form';

interface LabPoliciesProps {
  readonly known: readonly LabPolicy[];
  /** In the order in which they were chosen: the others are compared with the first. */
  readonly chosen: readonly string[];
  readonly most: number;
  readonly set: (change: LabSearch) => void;
}

/** The policies of an experiment, each with its options. One can be there twice, with other options. */
export function LabPolicies({ chosen, known, most, set }: LabPoliciesProps) {
  const names = chosen.map((word) => readPolicy(word).name);
  const choose = (next: readonly string[]) => set({ policies: next.join(',') || NO_POLICY });
  const toggle = (name: string) =>
    choose(names.includes(name) ? chosen.filter((_, i) => names[i] !== name) : [...chosen, name]);
  const isFull = chosen.length >= most;
  return (
    <fieldset>
      <legend>Policies</legend>
      <p className="muted">
        {chosen.length} of at most {most}
      </p>
      <PolicyBoxes known={known} chosen={names} isFull={isFull} onToggle={toggle} />
      <ol className="lab-policies">
        {chosen.map((word, i) => (
          <ChosenPolicy
            // By its place: a new option must not take the focus away.
            key={i}
            word={word}
            isFirst={i === 0}
            known={known.find(({ name }) => name === names[i])}
            onChange={(next) => choose(chosen.map((one, at) => (at === i ? next : one)))}
            onFirst={() => choose([word, ...chosen.filter((_, at) => at !== i)])}
            onRemove={() => choose(chosen.filter((_, at) => at !== i))}
            {...(isFull ? {} : { onCopy: () => choose(chosen.toSpliced(i + 1, 0, word)) })}
          />
        ))}
      </ol>
    </fieldset>
  );
}

interface ChosenPolicyProps {
  readonly word: string;
  readonly isFirst: boolean;
  readonly known: LabPolicy | undefined;
  readonly onChange: (word: string) => void;
  readonly onFirst: () => void;
  readonly onRemove: () => void;
  /** Absent where no more fit. */
  readonly onCopy?: () => void;
}

function ChosenPolicy({ isFirst, known, onChange, onCopy, onFirst, onRemove, word }: ChosenPolicyProps) {
  const { name, options } = readPolicy(word);
  const isSettable = known !== undefined && hasOptions(known.options);
  return (
    <li>
      <div className="lab-policy">
        <code>{word}</code>
        <span className="muted">{isFirst ? 'the others are compared with it' : ''}</span>
        <span className="lab-policy-actions">
          {isFirst ? null : (
            <Button look="quiet" aria-label={`Compare with it: ${word}`} onClick={onFirst}>
              Compare with it
            </Button>
          )}
          {isSettable && onCopy !== undefined ? (
            <Button look="quiet" aria-label={`Once more: ${word}`} onClick={onCopy}>
              Once more
            </Button>
          ) : null}
          <Button look="quiet" aria-label={`Remove ${word}`} onClick={onRemove}>
            Remove
          </Button>
        </span>
      </div>
      {isSettable ? (
        <details open={Object.keys(options).length > 0 ? true : undefined}>
          <summary>Options of {name}</summary>
          <OptionForm
            schema={known.options}
            value={options}
            onChange={(next) => onChange(policyWord({ name, options: next }))}
          />
        </details>
      ) : null}
    </li>
  );
}
