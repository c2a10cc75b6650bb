import { field, text, whole } from '../schema/fields.js';
import { badQuery } from './errors.js';

const USUAL_LIMIT = 100;
export const MOST_ITEMS = 1000;

/** The query parameters of every list. */
export const PAGE_QUERY = {
  limit: field(whole(1, MOST_ITEMS), { default: USUAL_LIMIT, help: 'most items of a page' }),
  cursor: field(text(1024), { help: "the 'next' of the page before; absent for the first page" }),
};

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of a list. Those of resources also have the version that a watch can continue from. */
export interface Page<Item> {
  readonly kind: string;
  readonly items: readonly Item[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

/** What an item is found by: a list is ordered by these, compared one after the other. */
export type PageKey = readonly (string | number)[];

/** A cursor names the last item of a page. It is opaque to clients. */
export function cursorOf(key: PageKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * The item after which a page starts; null for the first page.
 * @param example a key of the list: types have to match
 * @param isNumber what numbers may be: those of a database are whole
 */
export function keyIn<const Key extends PageKey>(
  { cursor }: PageQuery,
  example: Key,
  isNumber: (part: unknown) => boolean = Number.isSafeInteger,
): Key | null {
  if (cursor === undefined) return null;
  const key = parsed(cursor);
  const fits =
    Array.isArray(key) &&
    key.length === example.length &&
    key.every((part, i) => (typeof example[i] === 'number' ? isNumber(part) : isText(part)));
  if (!fits) throw badQuery('cursor', 'is not a cursor of this list', "give the 'next' of a page of the same list");
  return key as unknown as Key;
}

/** Not every database takes text with a NUL. */
const isText = (part: unknown) => typeof part === 'string' && !part.includes('\0');

/**
 * A page of a list that was read one item further than the page is long, to know whether there are more.
 * @param read up to `limit + 1` items, from after the cursor
 */
export function pageOf<Item, View>(
  kind: string,
  { limit }: PageQuery,
  read: readonly Item[],
  keyOf: (item: Item) => PageKey,
  viewOf: (item: Item) => View,
): Page<View> {
  const items = read.slice(0, limit);
  return { kind, items: items.map(viewOf), next: read.length > limit ? cursorOf(keyOf(items.at(-1)!)) : null };
}

/** A page of a list that is in memory, which is sorted by its keys first. */
export function pageOfAll<Item, View>(
  kind: string,
  query: PageQuery,
  all: readonly Item[],
  keyOf: (item: Item) => PageKey,
  viewOf: (item: Item) => View,
): Page<View> {
  const sorted = [...all].sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
  const [first] = sorted;
  if (first === undefined) return pageOf(kind, query, [], keyOf, viewOf);
  const after = keyIn(query, keyOf(first), Number.isFinite);
  const rest = after === null ? sorted : sorted.filter((item) => compareKeys(keyOf(item), after) > 0);
  return pageOf(kind, query, rest.slice(0, query.limit + 1), keyOf, viewOf);
}

export function compareKeys(a: PageKey, b: PageKey): number {
  for (let i = 0; i < a.length; i++) {
    if (a[i]! < b[i]!) return -1;
    if (a[i]! > b[i]!) return 1;
  }
  return 0;
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
