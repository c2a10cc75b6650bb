import { Button } from '../basics';
import { firstValue, givenSchema } from './json-schema';
import { ObjectFields } from './object-fields';
import { type FieldProps, inputFor, useFormHost } from './schema-form';

/** The entries of a list, each with its own input. */
export function ListField({ name, path, schema, value }: FieldProps) {
  const host = useFormHost();
  const entries = Array.isArray(value) ? value : [];
  const items = givenSchema(schema.items!);
  const Input = inputFor(items);
  const replace = (next: readonly unknown[]) => host.set(path, next);
  return (
    <>
      {entries.map((one, i) => (
        <div key={i} className="schema-entry">
          {Input === null ? (
            <fieldset className="schema-item">
              <legend>
                {name} {i + 1}
              </legend>
              <ObjectFields schema={items} value={one} path={[...path, i]} />
            </fieldset>
          ) : (
            <Input
              schema={items}
              value={one}
              isRequired
              isReadOnly={host.isReadOnly}
              describedBy={undefined}
              label={`${name} ${i + 1}`}
              onChange={(next) => replace(entries.map((known, at) => (at === i ? (next ?? '') : known)))}
            />
          )}
          {host.isReadOnly ? null : (
            <Button
              look="quiet"
              aria-label={`Remove ${name} ${i + 1}`}
              onClick={() => replace(entries.filter((_, at) => at !== i))}
            >
              Remove
            </Button>
          )}
        </div>
      ))}
      {host.isReadOnly ? (
        entries.length === 0 ? (
          <p className="muted">none</p>
        ) : null
      ) : (
        <Button
          className="schema-add"
          disabled={schema.maxItems !== undefined && entries.length >= schema.maxItems}
          aria-label={`Add to ${name}`}
          onClick={() => replace([...entries, firstValue(items)])}
        >
          Add
        </Button>
      )}
    </>
  );
}
