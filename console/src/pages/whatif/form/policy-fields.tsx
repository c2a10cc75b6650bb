import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { PolicyPicker, usePolicies } from '../../../parts/policy-picker';
import { changedPart, type JsonSchema } from '../../../parts/schema-form/json-schema';
import { SchemaForm } from '../../../parts/schema-form/schema-form';
import { MOST_POLICIES, mapIn, mapText, optionsOf, policiesIn } from '../question';
import { useParameter } from './fields';

const route = getRouteApi('/whatif');

/** The policies of a question. @param none what is asked when none is chosen */
export function PolicyFields({ most = MOST_POLICIES, none }: { readonly none: string; readonly most?: number }) {
  const chosen = policiesIn(route.useSearch());
  const [, set] = useParameter('policy');
  return (
    <PolicyPicker
      chosen={chosen}
      most={most}
      note={chosen.length === 0 ? none : 'each is compared with what was measured'}
      onChange={(next) => set(next.join(','))}
    />
  );
}

/** Options of the chosen policies that have any, each in a form made from its schema. */
export function PolicyOptionFields() {
  const search = route.useSearch();
  const policies = usePolicies();
  const [text, set] = useParameter('options');
  const all = mapIn(text);
  const chosen = policiesIn(search).flatMap((name) => policies.find((one) => one.name === name) ?? []);
  const withOptions = chosen.filter(({ options }) => hasOptions(options));
  return withOptions.map(({ name, options }) => (
    <OptionForm
      key={name}
      title={`Options of ${name}`}
      schema={options}
      value={optionsOf(all, name)}
      onChange={(next) => {
        const { [name]: _, ...others } = all;
        set(mapText(Object.keys(next).length === 0 ? others : { ...others, [name]: next }) ?? '');
      }}
    />
  ));
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
