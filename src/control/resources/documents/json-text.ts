/** Offsets in a text that JSON.parse has accepted. Walks the text without recursion. */

interface Open {
  /** The keys of a map; null for a list. */
  readonly keys: Set<string> | null;
  isKey: boolean;
}

/** The position of the first key that its map has twice; null when there is none. */
export function repeatedKey(text: string): number | null {
  const open: Open[] = [];
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    const top = open.at(-1);
    if (char === '{') open.push({ keys: new Set(), isKey: true });
    else if (char === '[') open.push({ keys: null, isKey: false });
    else if (char === '}' || char === ']') open.pop();
    else if (char === ',' && top !== undefined) top.isKey = top.keys !== null;
    else if (char === '"') {
      const end = stringEnd(text, i);
      if (top?.isKey) {
        const key = text.slice(i, end);
        if (top.keys!.has(key)) return i;
        top.keys!.add(key);
        top.isKey = false;
      }
      i = end - 1;
    }
  }
  return null;
}

/** A value of a text: where it stands, and the values in it. */
interface Place {
  readonly offset: number;
  /** Null for a value that holds no others. */
  readonly members: Map<string, Place> | null;
}

/** The positions of the values of a text. It is walked once, with the first of them: there may be thousands of problems to place. */
export class JsonPlaces {
  #root: Place | null = null;
  #lineStarts: number[] | null = null;

  constructor(private readonly text: string) {}

  /** The position of a value, or of its key when the value is a map or a list. Of what is absent, that of what it would be in. */
  offset(path: readonly string[]): number {
    if (path.length === 0) return skipSpace(this.text, 0);
    this.#root ??= placesIn(this.text);
    let place = this.#root;
    for (const step of path) {
      const next = place.members?.get(step);
      if (next === undefined) break;
      place = next;
    }
    return place.offset;
  }

  /** Both from 0. */
  lineAndColumn(offset: number): [line: number, column: number] {
    this.#lineStarts ??= lineStartsIn(this.text);
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return [low, offset - this.#lineStarts[low]!];
  }
}

function placesIn(text: string): Place {
  let root: Place = { offset: 0, members: null };
  const open: { readonly members: Map<string, Place>; readonly isMap: boolean }[] = [];
  let key: { readonly name: string; readonly offset: number } | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char <= ' ' || char === ',' || char === ':') continue;
    if (char === '}' || char === ']') {
      open.pop();
      continue;
    }
    const top = open.at(-1);
    const end = char === '"' ? stringEnd(text, i) : plainEnd(text, i);
    if (top?.isMap && key === null) {
      key = { name: JSON.parse(text.slice(i, end)) as string, offset: i };
      i = end - 1;
      continue;
    }
    const members = char === '{' || char === '[' ? new Map<string, Place>() : null;
    const place = { offset: members === null ? i : (key?.offset ?? i), members };
    if (top === undefined) root = place;
    else top.members.set(key?.name ?? String(top.members.size), place);
    key = null;
    if (members === null) i = end - 1;
    else open.push({ members, isMap: char === '{' });
  }
  return root;
}

function lineStartsIn(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The position after a number, true, false or null. */
function plainEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && /[\w.+-]/.test(text[at]!)) at++;
  return at;
}

/** The position after the closing quote. */
function stringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/**
 * Whether the first value of a JSON text holds more values than this, counted by the commas outside of its strings:
 * building a map of as many keys takes far longer.
 */
export function holdsMoreThan(text: string, most: number): boolean {
  let [commas, level] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
    } else if (code === COMMA) {
      if (++commas >= most) return true;
    } else if (code === OPEN_LIST || code === OPEN_MAP) level++;
    else if ((code === CLOSE_LIST || code === CLOSE_MAP) && --level === 0) return false;
  }
  return false;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c] as const;
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d] as const;
