/** `request_ttl_ms` as `requestTtlMs`. */
export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The same section with its keys in camelCase; values stay unchanged. */
export type CamelKeys<Section> = { [Key in keyof Section as Key extends string ? Camel<Key> : Key]: Section[Key] };

export function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function snakeCase(name: string): string {
  return name.replace(/-/g, '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function kebabCase(key: string): string {
  return snakeCase(key).replace(/_/g, '-');
}

/** A section as code reads it. */
export function camelKeys<const Section extends object>(section: Section): CamelKeys<Section> {
  const entries = Object.entries(section).map(([key, value]) => [camelCase(key), value]);
  return Object.fromEntries(entries) as CamelKeys<Section>;
}

/** A section as files and the API write it. */
export function snakeKeys(section: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(section).map(([name, value]) => [snakeCase(name), value]));
}
