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

/** The position of a value, or of its key when the value is a map or a list. Of what is absent, that of what it would be in. */
export function jsonOffset(text: string, path: readonly string[]): number {
  let value = skipSpace(text, 0);
  let offset = value;
  for (const step of path) {
    const found = memberOf(text, value, step);
    if (found === null) break;
    value = found.value;
    const isPlain = text[value] !== '{' && text[value] !== '[';
    offset = isPlain || found.key === null ? value : found.key;
  }
  return offset;
}

function memberOf(text: string, start: number, step: string): { key: number | null; value: number } | null {
  const isMap = text[start] === '{';
  if (!isMap && text[start] !== '[') return null;
  let at = skipSpace(text, start + 1);
  for (let i = 0; at < text.length && text[at] !== '}' && text[at] !== ']'; i++) {
    const key = isMap ? at : null;
    let isIt = String(i) === step;
    if (key !== null) {
      const end = stringEnd(text, key);
      isIt = JSON.parse(text.slice(key, end)) === step;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (isIt) return { key, value: at };
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return null;
}

function valueEnd(text: string, start: number): number {
  let level = 0;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === '"') i = stringEnd(text, i) - 1;
    else if (char === '{' || char === '[') level++;
    else if (char === '}' || char === ']') {
      if (level === 0) return i;
      level--;
    }
    if (level === 0 && (text[i + 1] === ',' || text[i + 1] === '}' || text[i + 1] === ']')) return i + 1;
  }
  return text.length;
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
