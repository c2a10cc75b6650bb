import { badPath } from '../errors.js';
import { type JsonPath, readJsonPath, valueText } from './json-path.js';

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'path'; readonly path: JsonPath }
  | { readonly type: 'range'; readonly path: JsonPath; readonly parts: readonly Part[] };

const PIECE = /\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{}"'])*)\}|([^{}]+)|([{}])/gs;

/**
 * Reads a template as kubectl does: text and paths in braces, `{"\n"}` for text with escapes, `{range PATH}...{end}` for each
 * value of a path. A path without braces is a template by itself.
 * @returns what the template prints for a document
 */
export function readJsonPathTemplate(given: string, place: string): (document: unknown) => string {
  const text = given.includes('{') ? given : `{${given}}`;
  const pieces = [...text.matchAll(PIECE)];
  let at = 0;
  const until = (isRange: boolean): Part[] => {
    const parts: Part[] = [];
    while (at < pieces.length) {
      const [whole, inside, plain] = pieces[at++]!;
      if (plain !== undefined) parts.push({ type: 'text', text: plain });
      else if (inside === undefined) throw badPath(place, given, `has a '${whole}' without its pair`);
      else if (inside.trim() === 'end') {
        if (!isRange) throw badPath(place, given, 'has an {end} without a {range}');
        return parts;
      } else if (/^\s*range\s/.test(inside)) {
        const path = readJsonPath(inside.trim().slice('range'.length), place);
        parts.push({ type: 'range', path, parts: until(true) });
      } else parts.push(quotedText(inside) ?? { type: 'path', path: readJsonPath(inside, place) });
    }
    if (isRange) throw badPath(place, given, 'lacks an {end}');
    return parts;
  };
  const parts = until(false);
  return (document) => printed(parts, document, document);
}

function quotedText(inside: string): Part | null {
  const text = /^\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*$/s.exec(inside);
  if (text === null) return null;
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
  return { type: 'text', text: (text[1] ?? text[2]!).replace(/\\(.)/gs, (_, one: string) => escapes[one] ?? one) };
}

function printed(parts: readonly Part[], root: unknown, current: unknown): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      const values = part.path(root, current);
      if (part.type === 'path') return values.map(valueText).join(' ');
      return values.map((one) => printed(part.parts, root, one)).join('');
    })
    .join('');
}
