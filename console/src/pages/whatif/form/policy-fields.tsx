import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../../parts/basics';
import { PolicyPicker, usePolicies } from '../../../parts/policy-picker';
import { changedPart, type JsonSchema } from '../../../parts/schema-form/json-schema';
import { SchemaForm } from '../../../parts/schema-form/schema-form';
import { type AskedPolicy, addressOf, askedIn, MOST_POLICIES, policiesIn } from '../question';

const route = getRouteApi('/whatif');

/** The policies of the address with their options. A new question is about requests up to now. */
function useAsked(): [readonly AskedPolicy[], (next: readonly AskedPolicy[]) => void] {
  const navigate = route.useNavigate();
  const set = (next: readonly AskedPolicy[]) =>
    void navigate({ search: (before) => ({ ...before, to: undefined, ...addressOf(next) }), replace: true });
  return [askedIn(route.useSearch()), set];
}

/** The policies of a question. @param none what is asked when none is chosen */
export function PolicyFields({ most = MOST_POLICIES, none }: { readonly none: string; readonly most?: number }) {
  const chosen = policiesIn(route.useSearch());
  const [asked, set] = useAsked();
  const choose = (names: readonly string[]) => {
    const added = names.filter((name) => !chosen.includes(name)).map((policy) => ({ policy, options: {} }));
    set([...asked.filter(({ policy }) => names.includes(policy)), ...added]);
  };
  return (
    <PolicyPicker
      chosen={chosen}
      most={most}
      note={chosen.length === 0 ? none : 'each is compared with what was measured'}
      onChange={choose}
    />
  );
}

/** Options of the chosen policies that have any, each in a form made from its schema. One can be there again, with others. */
export function PolicyOptionFields() {
  const known = usePolicies();
  const [asked, set] = useAsked();
  return asked.map(({ options, policy }, i) => {
    const schema = known.find(({ name }) => name === policy)?.options;
    if (schema === undefined || !hasOptions(schema)) return null;
    const before = asked.slice(0, i).filter((one) => one.policy === policy).length;
    const called = before === 0 ? policy : `${policy}, number ${before + 1}`;
    return (
      // By its place: a new option must not take the focus away.
      <div key={i} className="asked-policy">
        <OptionForm
          title={`Options of ${called}`}
          schema={schema}
          value={options}
          onChange={(next) => set(asked.map((one, at) => (at === i ? { ...one, options: next } : one)))}
          {...(before === 0 ? {} : { startsOpen: true })}
        />
        {asked.length < MOST_POLICIES ? (
          <Button
            look="quiet"
            aria-label={`Once more: ${called}`}
            onClick={() => set(asked.toSpliced(i + 1, 0, { options, policy }))}
          >
            Once more
          </Button>
        ) : null}
        {before === 0 ? null : (
          <Button look="quiet" aria-label={`Remove ${called}`} onClick={() => set(asked.filter((_, at) => at !== i))}>
            Remove
          </Button>
        )}
      </div>
    );
  });
}

export const hasOptions = ({ properties = {} }: JsonSchema) => Object.keys(properties).length > 0;

interface OptionFormProps {
  readonly title: string;
  readonly schema: JsonSchema;
  readonly value: Readonly<Record<string, unknown>>;
  readonly startsOpen?: true;
  readonly onChange: (next: Readonly<Record<string, unknown>>) => void;
}

/** Options by their schema. It starts open where one is set, and closes by hand only. */
export function OptionForm({ onChange, schema, startsOpen, title, value }: OptionFormProps) {
  const given = Object.keys(value);
  const [isOpen, setOpen] = useState(startsOpen === true || given.length > 0);
  return (
    <details className="engines" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{given.length > 0 ? `${title}: ${given.join(', ')}` : title}</summary>
      <SchemaForm
        schema={schema}
        value={value}
        host={{
          isReadOnly: false,
          suggestions: {},
          set: (path, next) => onChange(changedPart(value, path, next) as Readonly<Record<string, unknown>>),
        }}
      />
    </details>
  );
}
