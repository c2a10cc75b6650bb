/** Where a text stops being JSON. */
export interface JsonError {
  offset: number;
  problem: string;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
/** As much of a string as is valid, without the closing quote. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside strings
const STRING_BODY = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/**
 * The first place where `text` breaks the JSON grammar, or undefined when it does not. Only called after `JSON.parse`
 * refused: its own messages name a position in some versions and cases only.
 */
export function findJsonError(text: string): JsonError | undefined {
  let at = 0;
  /** One entry per open bracket: its closing counterpart. */
  const open: string[] = [];

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const wrong = (expected: string): JsonError => ({
    offset: at,
    problem: at >= text.length ? `the file ends where ${expected} should be` : `${expected} expected`,
  });
  const string = (expected: string): JsonError | undefined => {
    if (!skip(STRING_BODY)) return wrong(expected);
    if (text[at] !== '"') return wrong('the end of a string');
    at++;
    return undefined;
  };
  const key = (): JsonError | undefined => {
    const error = string('a property name in double quotes');
    if (error !== undefined) return error;
    skip(SPACE);
    if (text[at] !== ':') return wrong("':'");
    at++;
    skip(SPACE);
    return undefined;
  };

  skip(SPACE);
  for (;;) {
    const first = text[at];
    if (first === '{' || first === '[') {
      const close = first === '{' ? '}' : ']';
      at++;
      skip(SPACE);
      if (text[at] !== close) {
        open.push(close);
        const error = close === '}' ? key() : undefined;
        if (error !== undefined) return error;
        continue;
      }
      at++;
    } else if (first === '"') {
      const error = string('a string');
      if (error !== undefined) return error;
    } else if (!skip(NUMBER) && !skip(WORD)) {
      return wrong('a value');
    }

    skip(SPACE);
    while (open.length > 0 && text[at] === open[open.length - 1]) {
      open.pop();
      at++;
      skip(SPACE);
    }
    const close = open[open.length - 1];
    if (close === undefined) return at < text.length ? wrong('the end of the file') : undefined;
    if (text[at] !== ',') return wrong(`',' or '${close}'`);
    at++;
    skip(SPACE);
    const error = close === '}' ? key() : undefined;
    if (error !== undefined) return error;
  }
}
