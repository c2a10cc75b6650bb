import { badPath } from '../errors.js';

/** Finds the values that a path leads to. @param root what `$` stands for; @param current what `@` and a leading dot stand for */
export type JsonPath = (root: unknown, current: unknown) => unknown[];

type Step = (values: readonly unknown[], root: unknown) => unknown[];

const BARE_KEY = /[A-Za-z0-9_$-]/;
const COMPARED = /^(.*?)(?:\s*(==|!=|<=|>=|<|>)\s*(.+))?$/s;

/**
 * Reads a path as kubectl does: `.a.b`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`, `..name`, `[?(@.type=="Ready")]`. A
 * leading `$` or `@`, and braces around all of it, may be left out.
 * @param place for messages
 */
export function readJsonPath(given: string, place: string): JsonPath {
  const text = given.trim().replace(/^\{(.*)\}$/s, '$1');
  const reader = new PathReader(text, place);
  const steps = reader.steps();
  const fromRoot = text.startsWith('$');
  return (root, current) => {
    let values: unknown[] = [fromRoot ? root : current];
    for (const step of steps) values = step(values, root);
    return values;
  };
}

class PathReader {
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly place: string,
  ) {
    if (/^[$@]/.test(text)) this.#at++;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    if (this.text === '') throw this.#bad('is empty');
    // `metadata.name` is accepted for `.metadata.name`.
    if (this.#at === 0 && BARE_KEY.test(this.text[0]!)) steps.push(keyed(this.#key()));
    while (this.#at < this.text.length) steps.push(this.#step());
    return steps;
  }

  #step(): Step {
    if (this.text.startsWith('..', this.#at)) {
      this.#at += 2;
      const key = this.#key();
      return (values) => values.flatMap((one) => deep(one, key));
    }
    if (this.text[this.#at] === '.') {
      this.#at++;
      // A dot alone is the value itself, and one before a bracket is left out.
      if (this.#at === this.text.length || this.text[this.#at] === '[') return (values) => [...values];
      if (this.text[this.#at] === '*') {
        this.#at++;
        return all;
      }
      return keyed(this.#key());
    }
    if (this.text[this.#at] === '[') return this.#bracket();
    throw this.#bad(`has an unexpected '${this.text[this.#at]}'`);
  }

  #key(): string {
    let key = '';
    for (; this.#at < this.text.length; this.#at++) {
      if (this.text[this.#at] === '\\' && this.#at + 1 < this.text.length) key += this.text[++this.#at];
      else if (BARE_KEY.test(this.text[this.#at]!) || this.text[this.#at] === '/') key += this.text[this.#at];
      else break;
    }
    if (key === '') throw this.#bad('lacks a key after a dot');
    return key;
  }

  #bracket(): Step {
    const end = this.#closing();
    const inside = this.text.slice(this.#at + 1, end).trim();
    this.#at = end + 1;
    if (inside === '*') return all;
    const quoted = /^'((?:[^'\\]|\\.)*)'$/s.exec(inside) ?? /^"((?:[^"\\]|\\.)*)"$/s.exec(inside);
    if (quoted !== null) return keyed(quoted[1]!.replace(/\\(.)/gs, '$1'));
    const filter = /^\?\((.*)\)$/s.exec(inside);
    if (filter !== null) return this.#filter(filter[1]!);
    const slice = /^(-?\d+)?:(-?\d+)?$/.exec(inside);
    if (slice !== null) {
      const [from, to] = [slice[1], slice[2]].map((one) => (one === undefined ? undefined : Number(one)));
      return (values) => values.flatMap((one) => (Array.isArray(one) ? one.slice(from, to) : []));
    }
    if (!/^-?\d+$/.test(inside)) throw this.#bad(`cannot have [${inside}]`);
    return (values) =>
      values.flatMap((one) =>
        Array.isArray(one) && one.at(Number(inside)) !== undefined ? [one.at(Number(inside))] : [],
      );
  }

  #filter(condition: string): Step {
    const [, left, operator, right] = COMPARED.exec(condition)!;
    const path = readJsonPath(left!.trim(), this.place);
    if (operator === undefined) return selected((one, root) => path(root, one).length > 0);
    const wanted = this.#operand(right!.trim());
    return selected((one, root) => compare(path(root, one)[0], operator, wanted(root, one)));
  }

  /** A literal, or another path. */
  #operand(given: string): (root: unknown, current: unknown) => unknown {
    if (/^[@$]/.test(given)) {
      const path = readJsonPath(given, this.place);
      return (root, current) => path(root, current)[0];
    }
    const text = /^'(.*)'$/s.exec(given)?.[1];
    if (text !== undefined) return () => text;
    try {
      const value: unknown = JSON.parse(given);
      return () => value;
    } catch {
      throw this.#bad(`compares with ${given}, which is neither a quoted text nor a number`);
    }
  }

  /** The bracket that closes this one; those in quotes do not count. */
  #closing(): number {
    let level = 0;
    let quote = '';
    for (let i = this.#at; i < this.text.length; i++) {
      const letter = this.text[i]!;
      if (quote !== '') {
        if (letter === '\\') i++;
        else if (letter === quote) quote = '';
      } else if (letter === '"' || letter === "'") quote = letter;
      else if (letter === '[') level++;
      else if (letter === ']' && --level === 0) return i;
    }
    throw this.#bad("lacks a ']'");
  }

  #bad(problem: string): Error {
    return badPath(this.place, this.text, problem);
  }
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const keyed =
  (key: string): Step =>
  (values) =>
    values.flatMap((one) => (isMap(one) && Object.hasOwn(one, key) && one[key] !== null ? [one[key]] : []));

const all: Step = (values) =>
  values.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));

const selected =
  (isWanted: (one: unknown, root: unknown) => boolean): Step =>
  (values, root) =>
    values.flatMap((one) =>
      (Array.isArray(one) ? one : isMap(one) ? Object.values(one) : []).filter((item) => isWanted(item, root)),
    );

function deep(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = isMap(value) && Object.hasOwn(value, key) ? [value[key]] : [];
  return [...own, ...Object.values(value).flatMap((inner) => deep(inner, key))];
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left !== typeof right || !['number', 'string'].includes(typeof left)) return false;
  const [a, b] = [left as number, right as number];
  return operator === '<' ? a < b : operator === '>' ? a > b : operator === '<=' ? a <= b : a >= b;
}

/** A value in a line of text. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
