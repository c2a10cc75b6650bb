import { useEffect, useId, useState } from 'react';
import { choicesOf } from './json-schema';
import type { InputProps } from './schema-form';

const shownDefault = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

export function TextInput({
  describedBy,
  id,
  isReadOnly,
  isRequired,
  label,
  onChange,
  schema,
  suggestions,
  value,
}: InputProps) {
  const list = useId();
  return (
    <>
      <input
        type={schema.writeOnly === true ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        id={id}
        aria-label={label}
        aria-describedby={describedBy}
        readOnly={isReadOnly}
        required={isRequired}
        maxLength={schema.maxLength}
        placeholder={shownDefault(schema.default)}
        list={suggestions === undefined ? undefined : list}
        value={value === undefined || value === null ? '' : String(value)}
        onChange={({ target }) => onChange(target.value === '' && !isRequired ? undefined : target.value)}
      />
      {suggestions === undefined ? null : (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Keeps what is typed while it is not a number yet. */
export function NumberInput({ describedBy, id, isReadOnly, isRequired, label, onChange, schema, value }: InputProps) {
  const shown = typeof value === 'number' ? String(value) : '';
  const [text, setText] = useState(shown);
  useEffect(() => {
    if (shown === '' || Number(text) !== value) setText(shown);
  }, [shown]);
  return (
    <input
      inputMode="decimal"
      autoComplete="off"
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
      aria-invalid={text.trim() !== '' && !Number.isFinite(Number(text))}
      readOnly={isReadOnly}
      required={isRequired}
      placeholder={shownDefault(schema.default)}
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        const given = target.value.trim();
        if (given === '') onChange(undefined);
        else if (Number.isFinite(Number(given))) onChange(Number(given));
      }}
    />
  );
}

/** A choice that is left out has the default of the schema. */
export function ChoiceInput({ describedBy, id, isReadOnly, isRequired, label, onChange, schema, value }: InputProps) {
  const choices = choicesOf(schema);
  const at = choices.indexOf(value);
  const standard = schema.default === undefined ? 'not set' : `default: ${shownDefault(schema.default)}`;
  return (
    <select
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
      disabled={isReadOnly}
      value={at < 0 ? (value === undefined ? '' : 'other') : String(at)}
      onChange={({ target }) => onChange(target.value === '' ? undefined : choices[Number(target.value)])}
    >
      {isRequired && value !== undefined ? null : <option value="">{standard}</option>}
      {at < 0 && value !== undefined ? <option value="other">{shownDefault(value)}: not one of these</option> : null}
      {choices.map((one, i) => (
        <option key={String(one)} value={i}>
          {shownDefault(one)}
        </option>
      ))}
    </select>
  );
}

export function BooleanInput(props: InputProps) {
  return <ChoiceInput {...props} schema={{ ...props.schema, enum: [true, false] }} />;
}

/** Any JSON value; text that is not JSON is taken as text. */
export function JsonInput({ describedBy, id, isReadOnly, label, onChange, value }: InputProps) {
  const shown = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const commit = () => {
    if (text === shown) return;
    if (text.trim() === '') return onChange(undefined);
    try {
      onChange(JSON.parse(text));
    } catch {
      onChange(text);
    }
  };
  return (
    <input
      autoComplete="off"
      spellCheck={false}
      className="mono"
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
      readOnly={isReadOnly}
      placeholder="JSON"
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={commit}
    />
  );
}
