import { invalidField } from './errors.js';

type Labels = Readonly<Record<string, string>>;
type Test = (labels: Labels) => boolean;

/** A comma between parentheses separates values, any other one terms. */
const BETWEEN_TERMS = /,(?![^()]*\))/;
const TERM = /^(!?)([^\s!=,()]+?)(?:\s*(!=|==?)\s*([^\s!=,()]*))?$/;
const SET_TERM = /^([^\s!=,()]+)\s+(in|notin)\s*\(([^()=!]*)\)$/;

/**
 * `team=search,tier!=free,gpu,!old,zone in (a,b),zone notin (c)`: all of them have to hold. A missing label has no value, so that
 * `tier!=free` and `zone notin (c)` hold for it.
 */
export function labelSelector(text: string, place: string): Test {
  const tests = termsIn(text).map((term) => setTest(term) ?? test(term, place));
  return (labels) => tests.every((one) => one(labels));
}

const termsIn = (text: string) =>
  text
    .split(BETWEEN_TERMS)
    .map((term) => term.trim())
    .filter((term) => term !== '');

const PLAIN = /^[\w./-]*$/;

/**
 * What the JSON of labels contains if a selector holds for them: a database finds those without reading all others. It may contain
 * all of this and still not be selected.
 */
export function selectedParts(text: string): string[] {
  return termsIn(text).flatMap((term) => {
    const [, name = '', value] = /^([^\s!=,()]+)(?:\s*==?\s*([^\s!=,()]*))?$/.exec(term) ?? [];
    if (name === '' || !PLAIN.test(name)) return [];
    return value !== undefined && PLAIN.test(value) ? [`"${name}":"${value}"`] : [`"${name}":`];
  });
}

function setTest(term: string): Test | null {
  const match = SET_TERM.exec(term);
  if (match === null) return null;
  const [, name, relation, list] = match as unknown as [string, string, string, string];
  const values = new Set(list.split(',').map((value) => value.trim()));
  return (labels) => (Object.hasOwn(labels, name) && values.has(labels[name]!)) === (relation === 'in');
}

function test(term: string, place: string): Test {
  const match = TERM.exec(term);
  if (match === null || (match[1] === '!' && match[3] !== undefined)) {
    const hint = "give 'name', '!name', 'name=value', 'name!=value', 'name in (a,b)' or 'name notin (a,b)'";
    throw invalidField(place, `'${term}' selects nothing`, hint);
  }
  const [, not, name, relation, value] = match as unknown as [string, string, string, string?, string?];
  if (relation === undefined) return (labels) => Object.hasOwn(labels, name) === (not === '');
  return (labels) => (Object.hasOwn(labels, name) && labels[name] === value) === (relation !== '!=');
}
