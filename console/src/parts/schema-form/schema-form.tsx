import '../../styles/editor.css';
import { createContext, useContext, useEffect, useId, useState } from 'react';
import { type Control, controlOf, givenSchema, isDefault, type JsonSchema, type Path } from './json-schema';
import { ListField } from './list-field';
import { ObjectFields } from './object-fields';
import { BooleanInput, ChoiceInput, JsonInput, NumberInput, TextInput } from './scalar-inputs';

export interface FormHost {
  /** Undefined takes the key out. */
  readonly set: (path: Path, value: unknown) => void;
  readonly isReadOnly: boolean;
  /** Known values of text fields, by path: `spec.engine.name`. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
}

const Host = createContext<FormHost>({ set: () => {}, isReadOnly: true, suggestions: {} });
export const useFormHost = () => useContext(Host);

/** A form for a value, made from its JSON Schema. */
export function SchemaForm({
  host,
  path = [],
  schema,
  value,
}: {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path?: Path;
  readonly host: FormHost;
}) {
  return (
    <Host value={host}>
      <div className="schema-form">
        <ObjectFields schema={givenSchema(schema)} value={value} path={path} />
      </div>
    </Host>
  );
}

export interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path: Path;
  readonly isRequired: boolean;
}

/** What every input gets: its value, and how to change it. */
export interface InputProps {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  readonly describedBy: string | undefined;
  /** Where a label element names it; else it has a label of its own. */
  readonly id?: string;
  readonly label?: string;
  readonly suggestions?: readonly string[];
  readonly onChange: (value: unknown) => void;
}

const INPUTS: Partial<Record<Control, (props: InputProps) => React.ReactNode>> = {
  text: TextInput,
  number: NumberInput,
  boolean: BooleanInput,
  choice: ChoiceInput,
  json: JsonInput,
};

/** The input of a value that has no parts; null for lists and objects. */
export const inputFor = (schema: JsonSchema) => INPUTS[controlOf(schema)] ?? null;

/** One key of an object with its input and its help. */
export function Field(props: FieldProps) {
  const host = useFormHost();
  const id = useId();
  const help = `${id}-help`;
  const schema = givenSchema(props.schema);
  const { isRequired, name, path, value } = props;
  const Input = inputFor(schema);
  if (Input === null) return <Group {...props} schema={schema} />;
  const suggestions = host.suggestions[path.join('.')];
  return (
    <div className="schema-field">
      <div className="field">
        <label htmlFor={id}>
          {name}
          {isRequired ? ' *' : ''}
        </label>
        <Input
          id={id}
          schema={schema}
          value={value}
          isRequired={isRequired}
          isReadOnly={host.isReadOnly}
          describedBy={schema.description === undefined ? undefined : help}
          {...(suggestions === undefined ? {} : { suggestions })}
          onChange={(next) => host.set(path, next)}
        />
      </div>
      {schema.description === undefined ? null : (
        <p id={help} className="schema-help">
          {schema.description}
        </p>
      )}
    </div>
  );
}

/** A list or an object. It opens with what differs from the defaults, and closes by hand only: not under the cursor. */
function Group(props: FieldProps) {
  const { isRequired, name, path, schema, value } = props;
  const hasMore = isRequired || !isDefault(schema, value);
  const [isOpen, setOpen] = useState(hasMore);
  useEffect(() => {
    if (hasMore) setOpen(true);
  }, [hasMore]);
  return (
    <details className="schema-group" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {name} {schema.description === undefined ? null : <span className="muted">{schema.description}</span>}
      </summary>
      <fieldset>
        <legend className="visually-hidden">{name}</legend>
        {controlOf(schema) === 'list' ? (
          <ListField {...props} />
        ) : (
          <ObjectFields schema={schema} value={value} path={path} />
        )}
      </fieldset>
    </details>
  );
}
