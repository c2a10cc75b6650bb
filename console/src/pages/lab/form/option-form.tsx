import type { JsonSchema } from '../../../parts/schema-form/json-schema';
import { SchemaForm } from '../../../parts/schema-form/schema-form';

interface OptionFormProps {
  readonly schema: JsonSchema;
  readonly value: Readonly<Record<string, unknown>>;
  readonly onChange: (value: Readonly<Record<string, unknown>>) => void;
}

/** Options as a form made from their schema; those that are left out have their defaults. */
export function OptionForm({ onChange, schema, value }: OptionFormProps) {
  const set = (path: readonly (string | number)[], next: unknown) => {
    const { [String(path[0])]: _, ...others } = value;
    onChange(next === undefined ? others : { ...others, [String(path[0])]: next });
  };
  return <SchemaForm schema={schema} value={value} host={{ set, isReadOnly: false, suggestions: {} }} />;
}

export const hasOptions = ({ properties = {} }: JsonSchema) => Object.keys(properties).length > 0;
