import { resolve } from 'node:path';
import { badStoreAddress } from './errors.js';

export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly path: string; readonly shown: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly shown: string };

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/** `twinyard.db`, `sqlite:path`, `:memory:` or `postgres://user:password@host/database`. */
export function storeAddress(text: string): StoreAddress {
  if (text.trim() === '') throw badStoreAddress("''", 'is empty');
  if (text === ':memory:') return { kind: 'sqlite', path: text, shown: text };
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') return postgresAddress(text);
  if (scheme !== undefined && scheme !== 'sqlite') {
    throw badStoreAddress(`${scheme}://...`, `is neither SQLite nor PostgreSQL`);
  }
  const path = text.replace(/^sqlite:(\/\/)?/i, '');
  if (path === '') throw badStoreAddress(text, 'names no file');
  if (path === ':memory:') return { kind: 'sqlite', path, shown: path };
  // Absolute, so that no library takes the path for an address of its own.
  return { kind: 'sqlite', path: resolve(path), shown: path };
}

function postgresAddress(url: string): StoreAddress {
  // What cannot be read might be all password.
  if (!URL.canParse(url)) throw badStoreAddress('postgres://...', 'is not a URL');
  const { username, host, pathname } = new URL(url);
  const user = username === '' ? '' : `${username}@`;
  return { kind: 'postgres', url, shown: `postgres://${user}${host}${pathname}` };
}
