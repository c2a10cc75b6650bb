import { invalidField } from './errors.js';

type Labels = Readonly<Record<string, string>>;
type Test = (labels: Labels) => boolean;

const TERM = /^(!?)([^\s!=,]+?)(?:\s*(!=|==?)\s*([^\s!=,]*))?$/;

/**
 * `team=search,tier!=free,gpu,!old`: all of them have to hold. A missing label has no value, so that `tier!=free` holds
 * for it.
 */
export function labelSelector(text: string, place: string): Test {
  const tests = text
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .map((term) => {
      const match = TERM.exec(term);
      if (match === null || (match[1] === '!' && match[3] !== undefined)) {
        throw invalidField(place, `'${term}' selects nothing`, "give 'name', '!name', 'name=value' or 'name!=value'");
      }
      const [, not, name, relation, value] = match as unknown as [string, string, string, string?, string?];
      if (relation === undefined) return (labels: Labels) => Object.hasOwn(labels, name) === (not === '');
      return (labels: Labels) => (Object.hasOwn(labels, name) && labels[name] === value) === (relation !== '!=');
    });
  return (labels) => tests.every((test) => test(labels));
}
