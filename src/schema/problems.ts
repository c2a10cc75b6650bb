import * as v from 'valibot';
import { InputError } from '../kernel/errors.js';
import { knownNames, nearestName } from '../kernel/text/nearest-name.js';
import { shownText } from '../kernel/text/shown-text.js';
import { accepted } from './accepted.js';
import { choicesOf, entriesOf, factsOf, nameOf, type Schema, schemaAt } from './facts.js';

/** One thing wrong with a value: where in it, what, and what to do. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly kind: 'invalid' | 'unknown-key' | 'missing';
  readonly problem: string;
  readonly hint: string;
}

/** The error codes of one kind of input. */
export interface SchemaCodes {
  readonly invalid: string;
  readonly unknownKey: string;
}

/** Everything wrong with a value, in the order of the schema, up to `most`; empty when it fits. */
export function problemsOf(schema: Schema, value: unknown, most = Number.POSITIVE_INFINITY): Problem[] {
  // One problem per value: a value that is too long is not also reported as malformed.
  const { issues = [] } = v.safeParse(schema, value, { abortPipeEarly: true });
  return issues
    .slice(0, most)
    .flatMap(closest)
    .map((issue) => problemOf(schema, issue));
}

/** Of a union, what is wrong inside the alternative that the value resembles. */
function closest(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const inner = issue.type === 'union' ? (issue.issues ?? []).filter(({ path }) => path !== undefined) : [];
  if (inner.length === 0) return [issue];
  return inner.map((one) => ({ ...one, path: [...(issue.path ?? []), ...one.path!] }) as v.BaseIssue<unknown>);
}

/** The error for a problem at a place. */
export function inputError({ kind, problem, hint }: Problem, place: string, codes: SchemaCodes): InputError {
  return new InputError(kind === 'unknown-key' ? codes.unknownKey : codes.invalid, place, problem, hint);
}

/** `clients[2].arrival.cv` */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function problemOf(schema: Schema, issue: v.BaseIssue<unknown>): Problem {
  const steps = issue.path ?? [];
  const path = steps.map(({ key }) => key as PropertyKey);
  const at = schemaAt(schema, path);
  const hint = at === null ? 'leave it out' : `give ${accepted(at)}`;
  const last = steps.at(-1) as { origin?: string } | undefined;
  if (issue.type === 'strict_object' && last?.origin === 'key') {
    if (issue.expected !== 'never') return { path, kind: 'missing', problem: 'is missing', hint };
    const name = String(path.at(-1));
    const known = keyHint(schemaAt(schema, path.slice(0, -1))!, name);
    return { path, kind: 'unknown-key', problem: `unknown key '${name}'`, hint: known };
  }
  const nameSchema = last?.origin === 'key' ? nameOf(schemaAt(schema, path.slice(0, -1))!) : null;
  if (nameSchema !== null) {
    return { path, kind: 'invalid', problem: 'the name is not valid', hint: `give ${accepted(nameSchema)}` };
  }
  const choices = at === null ? null : choicesOf(at);
  if (issue.type === 'picklist' && choices !== null && isPlain(issue.input)) {
    const name = String(issue.input);
    const known = choices.filter((one) => one !== '');
    return { path, kind: 'invalid', problem: `unknown value '${name}'`, hint: knownNames(name, known) };
  }
  const isSecret = at !== null && factsOf(at).secret === true;
  return { path, kind: 'invalid', problem: isSecret ? 'is not a valid secret' : wording(issue), hint };
}

/** A section with many keys is described instead of listing them. */
function keyHint(section: Schema, name: string): string {
  const known = Object.keys(entriesOf(section)!);
  const { accepts } = factsOf(section);
  if (accepts === undefined) return knownNames(name, known);
  const near = nearestName(name, known);
  return `${near === undefined ? '' : `did you mean '${near}'? `}give ${accepts}`;
}

function wording(issue: v.BaseIssue<unknown>): string {
  const { input } = issue;
  switch (issue.type) {
    case 'strict_object':
    case 'record':
      return 'is not a map';
    case 'array':
      return 'is not a list';
    case 'boolean':
      return isPlain(input) ? `${shown(input)} is neither true nor false` : 'is not a single value';
    case 'number':
    case 'finite':
      return isPlain(input) ? `${shown(input)} is not a number` : 'is not a single value';
    case 'integer':
      return `${shown(input)} is not a whole number`;
    case 'min_value':
    case 'gt_value':
      return `${shown(input)} is too small`;
    case 'max_value':
      return `${shown(input)} is too large`;
    case 'string':
    case 'picklist':
      return isPlain(input) ? `${shown(input)} is not text` : 'is not a single value';
    case 'min_length':
      return (input as { length: number }).length === 0 ? 'is empty' : 'is too short';
    case 'max_length':
      return 'is too long';
    case 'regex':
    case 'check':
      return `${shown(input)} ${issue.message}`;
    case 'iso_timestamp':
      return `${shown(input)} is not a time`;
    case 'union':
      return isPlain(input) ? `${shown(input)} is not accepted` : 'is not accepted';
    default:
      return issue.message;
  }
}

const isPlain = (value: unknown) => value === null || typeof value !== 'object';

/** A value on one line. An address with a password in it is not repeated. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  return /\/\/[^/]*@/.test(value) ? 'the address' : shownText(value);
}
