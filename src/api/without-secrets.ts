/** Credentials end at the last `@`, because a password may contain an unencoded one. */
const ADDRESS = /^([a-z][a-z0-9+.-]*:\/\/)(?:(.*)@)?([^?#]*)(\?[^#]*)?(?:#.*)?$/is;

/**
 * The same data without passwords: of addresses in it, whose credentials and queries may hold some, those are starred.
 * Whole configurations go through here, so that no new key of theirs has to be remembered.
 */
export function withoutSecrets<Value>(value: Value): Value {
  return starred(value) as Value;
}

function starred(value: unknown): unknown {
  if (typeof value === 'string') return starredAddress(value);
  if (Array.isArray(value)) return value.map(starred);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, starred(inner)]));
}

function starredAddress(text: string): string {
  const match = ADDRESS.exec(text);
  if (match === null) return text;
  const [, scheme, credentials, rest, query] = match;
  const user = credentials === undefined ? '' : `${starredCredentials(credentials)}@`;
  return `${scheme}${user}${rest}${query === undefined ? '' : '?***'}`;
}

/** A name alone may be a token. */
function starredCredentials(credentials: string): string {
  const colon = credentials.indexOf(':');
  return colon < 0 ? '***' : `${credentials.slice(0, colon)}:***`;
}
