/** A string of a source file, and the line it begins on. */
export interface SourceString {
  readonly line: number;
  readonly text: string;
}

/** The string and template literals of a source file, without its comments. Import paths and single words are left out. */
export function stringsOf(source: string): SourceString[] {
  const found: SourceString[] = [];
  const add = (start: number, text: string) => {
    if (!text.includes(' ')) return;
    found.push({ line: source.slice(0, start).split('\n').length, text });
  };
  /** Depths of braces at which the code of a template ends. */
  const templates: number[] = [];
  let depth = 0;
  let i = 0;
  const template = (from: number): number => {
    let at = from;
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at)) at += source[at] === '\\' ? 2 : 1;
    add(from, source.slice(from, at));
    if (source[at] !== '$') return at + 1;
    templates.push(depth);
    return at + 2;
  };
  while (i < source.length) {
    const char = source[i]!;
    if (source.startsWith('//', i)) i = end(source, '\n', i);
    else if (source.startsWith('/*', i)) i = end(source, '*/', i) + 2;
    else if (char === "'" || char === '"') {
      let at = i + 1;
      while (at < source.length && source[at] !== char && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
      add(i, source.slice(i + 1, at));
      i = at + 1;
    } else if (char === '`') i = template(i + 1);
    else if (char === '{') {
      depth++;
      i++;
    } else if (char === '}' && templates.at(-1) === depth) {
      templates.pop();
      i = template(i + 1);
    } else {
      if (char === '}') depth--;
      i++;
    }
  }
  return found;
}

function end(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? source.length : at;
}
