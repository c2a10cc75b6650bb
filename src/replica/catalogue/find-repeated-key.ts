const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * The first key that an object of a valid JSON text has twice, and where. `JSON.parse` keeps the last one in silence.
 */
export function findRepeatedKey(text: string): { key: string; offset: number } | undefined {
  /** Keys seen in each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  let last = { token: '', offset: 0 };
  for (const { 0: token, index: offset } of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const keys = open.at(-1)!;
      const key = JSON.parse(last.token) as string;
      if (keys!.has(key)) return { key, offset: last.offset };
      keys!.add(key);
    }
    last = { token, offset };
  }
  return undefined;
}
