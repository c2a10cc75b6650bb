import { resolve } from 'node:path';
import { badStoreAddress } from './errors.js';

export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly path: string; readonly shown: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly shown: string };

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const MEMORY = ':memory:';

/**
 * The one reading of a store's address: `twinyard.db`, `sqlite:path`, `sqlite://path`, `:memory:` or
 * `postgres://user:password@host/database`. What follows `sqlite:` or `sqlite://` is the path, so an absolute one has three
 * slashes: `sqlite:///srv/yard.db`.
 * @param folder what a relative path is relative to: the working directory, or the folder of the file that names the store
 */
export function storeAddress(text: string, folder = '.'): StoreAddress {
  if (text.trim() === '') throw badStoreAddress("''", 'is empty');
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') return postgresAddress(text);
  if (scheme !== undefined && scheme !== 'sqlite') {
    throw badStoreAddress(`${scheme}://...`, `is neither SQLite nor PostgreSQL`);
  }
  const path = text.replace(/^sqlite:(\/\/)?/i, '');
  if (path === '') throw badStoreAddress(text, 'names no file');
  if (path === MEMORY) return { kind: 'sqlite', path, shown: path };
  // Absolute, so that no library reads the path as its own kind of address.
  return { kind: 'sqlite', path: resolve(folder, path), shown: path };
}

/** The same address in a form that no longer depends on any folder. */
export function absoluteAddress(text: string, folder: string): string {
  const address = storeAddress(text, folder);
  return address.kind === 'sqlite' ? address.path : address.url;
}

/** The path of the file that an address names; null for a store in memory or on a server. */
export function storeFile(text: string): string | null {
  const address = storeAddress(text);
  return address.kind === 'sqlite' && address.path !== MEMORY ? address.path : null;
}

function postgresAddress(url: string): StoreAddress {
  // A text that is not a URL may be all password: none of it is shown.
  if (!URL.canParse(url)) throw badStoreAddress('postgres://...', 'is not a URL');
  const { username, host, pathname } = new URL(url);
  const user = username === '' ? '' : `${username}@`;
  return { kind: 'postgres', url, shown: `postgres://${user}${host}${pathname}` };
}
