import { useEffect, useRef, useState } from 'react';

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  /** The choice of none, in words. */
  readonly none?: string;
  readonly shown?: (value: string) => string;
  readonly isWide?: true;
  readonly onChange: (value: string) => void;
}

export function Choice({ isWide, label, none, onChange, shown = (value) => value, value, values }: ChoiceProps) {
  return (
    <label className={isWide ? 'field field-wide' : 'field'}>
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {none === undefined ? null : <option value="">{none}</option>}
        {(value === '' || values.includes(value) ? values : [value, ...values]).map((one) => (
          <option key={one} value={one}>
            {shown(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

const NUMBERS = {
  type: 'text',
  inputMode: 'decimal',
  pattern: ' *[0-9.]+( *, *[0-9.]+)* *',
  title: 'a number, or several with commas between them',
} as const;

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly most?: number;
  readonly step?: 'any';
  /** Also several, with commas between them. */
  readonly isList?: true;
  readonly onChange: (value: string) => void;
}

/** A number; the address follows what is typed. */
export function Field({ isList, label, most, onChange, value, ...rest }: FieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  // An empty field has its usual value again when it is left, not while a new one is typed.
  useEffect(() => {
    if (document.activeElement !== input.current) setText(value);
  }, [value]);
  return (
    <label className="field">
      <span>{label}</span>
      <input
        {...rest}
        ref={input}
        onBlur={() => setText(value)}
        {...(isList ? NUMBERS : { type: 'number', min: rest.step === 'any' ? 0 : 1 })}
        {...(most === undefined ? {} : { max: most })}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onChange(target.value);
        }}
      />
    </label>
  );
}
