/** A string or a comment of a source file, and the line it begins on. */
export interface SourceText {
  readonly line: number;
  readonly text: string;
}

/** The string and template literals of a source file and its comments. Import paths and single words are left out. */
export function textsOf(source: string): { strings: SourceText[]; comments: SourceText[] } {
  const strings: SourceText[] = [];
  const comments: SourceText[] = [];
  let line = 1;
  let counted = 0;
  /** Calls come in the order of their places, so that lines are counted once. */
  const add = (to: SourceText[], start: number, text: string) => {
    if (!text.includes(' ')) return;
    for (; counted < start; counted++) if (source[counted] === '\n') line++;
    to.push({ line, text });
  };
  /** Depths of braces at which the code of a template ends. */
  const templates: number[] = [];
  let depth = 0;
  let i = 0;
  const template = (from: number): number => {
    let at = from;
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at)) at += source[at] === '\\' ? 2 : 1;
    add(strings, from, source.slice(from, at));
    if (source[at] !== '$') return at + 1;
    templates.push(depth);
    return at + 2;
  };
  while (i < source.length) {
    const char = source[i]!;
    if (source.startsWith('//', i) || source.startsWith('/*', i)) {
      const at = source[i + 1] === '/' ? end(source, '\n', i) : end(source, '*/', i) + 2;
      add(comments, i, source.slice(i, at));
      i = at;
    } else if (char === "'" || char === '"') {
      let at = i + 1;
      while (at < source.length && source[at] !== char && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
      add(strings, i, source.slice(i + 1, at));
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
  return { strings, comments };
}

/** The titles of tests and suites in a source file. */
export function titlesOf(source: string): SourceText[] {
  return [...source.matchAll(/\(\s*(['"`])(.*?)\1,\s*(?:async\b|\()/g)].map(({ 2: text, index }) => ({
    line: source.slice(0, index).split('\n').length,
    text: text!,
  }));
}

function end(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? source.length : at;
}
