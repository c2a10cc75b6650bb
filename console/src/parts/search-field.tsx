import { type FormEvent, useEffect, useState } from 'react';

interface SearchFieldProps {
  readonly name: string;
  readonly value: string;
  /** The id of a list of suggestions. */
  readonly list?: string;
  readonly onChange: (value: string) => void;
}

/** Text to filter by. It is passed on when the visitor has finished typing: by Enter, or by leaving the field. */
export function SearchField({ list, name, onChange, value }: SearchFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text !== value) onChange(text.trim());
  };
  return (
    <form onSubmit={submit}>
      <input
        type="search"
        aria-label={name}
        placeholder={name}
        value={text}
        list={list}
        onChange={({ target }) => setText(target.value)}
        onBlur={submit}
      />
    </form>
  );
}
