import { type FormEvent, useState } from 'react';
import { Button } from '../basics';
import { entrySchema, firstValue, isMap, type JsonSchema, type Path } from './json-schema';
import { Field, useFormHost } from './schema-form';

/** The keys of an object: those that its schema knows, required ones first, then those that the user chose. */
export function ObjectFields({
  path,
  schema,
  value,
}: {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path: Path;
}) {
  const known = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required ?? []);
  const values = isMap(value) ? value : {};
  const sorted = [...known.filter(([key]) => required.has(key)), ...known.filter(([key]) => !required.has(key))];
  const entry = entrySchema(schema);
  const own = Object.keys(values).filter((key) => schema.properties?.[key] === undefined);
  return (
    <>
      {sorted.map(([key, one]) => (
        <Field
          key={key}
          name={key}
          schema={one}
          value={values[key]}
          path={[...path, key]}
          isRequired={required.has(key)}
        />
      ))}
      {entry === null ? null : <OwnEntries keys={own} schema={entry} values={values} path={path} />}
    </>
  );
}

/** Entries under names of the user's choice. */
function OwnEntries({
  keys,
  path,
  schema,
  values,
}: {
  readonly keys: readonly string[];
  readonly schema: JsonSchema;
  readonly values: Readonly<Record<string, unknown>>;
  readonly path: Path;
}) {
  const host = useFormHost();
  const [name, setName] = useState('');
  const where = path.at(-1) ?? 'fields';
  const add = () => {
    const wanted = name.trim();
    if (wanted === '' || Object.hasOwn(values, wanted)) return;
    host.set([...path, wanted], firstValue(schema));
    setName('');
  };
  /** Enter adds, and does not submit the form around. */
  const onEnter = (event: FormEvent & { key: string }) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add();
  };
  return (
    <>
      {keys.map((key) => (
        <div key={key} className="schema-entry">
          <Field name={key} schema={schema} value={values[key]} path={[...path, key]} isRequired />
          {host.isReadOnly ? null : (
            <Button look="quiet" aria-label={`Remove ${key}`} onClick={() => host.set([...path, key], undefined)}>
              Remove
            </Button>
          )}
        </div>
      ))}
      {host.isReadOnly ? null : (
        <div className="schema-entry">
          <input
            autoComplete="off"
            spellCheck={false}
            aria-label={`Name of a new entry of ${where}`}
            placeholder="name"
            value={name}
            onChange={({ target }) => setName(target.value)}
            onKeyDown={onEnter}
          />
          <Button aria-label={`Add to ${where}`} disabled={name.trim() === ''} onClick={add}>
            Add
          </Button>
        </div>
      )}
    </>
  );
}
