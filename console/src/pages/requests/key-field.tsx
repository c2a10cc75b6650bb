import { useId, useState } from 'react';
import type { ApiFailure } from '../../api/client';
import { SearchField } from '../../parts/search-field';
import { keyIdOf, useKeyName, useKeys } from './key-names';

interface KeyFieldProps {
  /** The id of a key. */
  readonly value: string | undefined;
  readonly workspace: string | undefined;
  readonly onChange: (uid: string) => void;
}

/** Filters by a key, which people know by its name and the API by its id. */
export function KeyField({ onChange, value, workspace }: KeyFieldProps) {
  const known = useKeyName(value);
  const keys = useKeys(workspace);
  const [failure, setFailure] = useState<string | null>(null);
  const list = useId();
  const choose = async (called: string) => {
    try {
      setFailure(null);
      onChange(called === '' ? '' : await keyIdOf(called, workspace));
    } catch (error) {
      setFailure((error as ApiFailure).message);
    }
  };
  return (
    <div>
      <SearchField
        name="Key"
        value={known === undefined ? (value ?? '') : `${known.workspace}/${known.name}`}
        list={list}
        onChange={(called) => void choose(called)}
      />
      <datalist id={list}>
        {keys.map(({ name, uid, workspace: place }) => (
          <option key={uid}>{`${place}/${name}`}</option>
        ))}
      </datalist>
      {failure === null ? null : <p role="alert">{failure}</p>}
    </div>
  );
}
