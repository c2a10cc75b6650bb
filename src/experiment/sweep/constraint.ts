import { InputError } from '../../kernel/errors.js';
import { type Measure, measureNamed, unknownMeasure } from './measure.js';

/** A condition that points have to meet: two sides and how they compare. */
export interface Constraint {
  /** As it was written. */
  text: string;
  left: Term;
  operator: Operator;
  right: Term;
}

type Operator = '<=' | '>=' | '<' | '>' | '=' | '!=';

type Term =
  | { kind: 'number'; value: number }
  | { kind: 'text'; value: string }
  | { kind: 'measure'; measure: Measure }
  | { kind: '+' | '-' | '*' | '/'; left: Term; right: Term };

/** The value of a measure: null where it is not known. */
export type MeasureLookUp = (measure: Measure) => number | string | null;

/** Latencies are in milliseconds, shares from 0 to 1. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, us: 0.001, '%': 0.01, '/s': 1 };
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(ms|us|s|%|\/s)?(?![\w.])|([A-Za-z][\w./:-]*)|([-+*/()]))/y;
const COMPARED = /^(.*?)(<=|>=|!=|==|<|>|=)(.*)$/s;

/** `ttft_p99 <= 500ms`, `num-instances * tp <= 16`, `routing-policy != round-robin`. A minus has a space before it. */
export function parseConstraint(text: string, place: string, settings: readonly string[]): Constraint {
  const match = COMPARED.exec(text);
  if (match === null || match[1]!.trim() === '' || match[3]!.trim() === '')
    throw badConstraint(place, text, 'compares nothing');
  const operator = (match[2] === '==' ? '=' : match[2]) as Operator;
  const isEquality = operator === '=' || operator === '!=';
  const side = (own: string) => new TermReader(own, text, place, settings, isEquality).read();
  const constraint = { text: text.trim(), left: side(match[1]!), operator, right: side(match[3]!) };
  if (measuresOf(constraint).length === 0) throw badConstraint(place, text, 'names neither a metric nor a setting');
  return constraint;
}

/** Recursive descent over sums and products. */
class TermReader {
  #at = 0;
  #token: RegExpExecArray | null = null;

  constructor(
    readonly side: string,
    readonly whole: string,
    readonly place: string,
    readonly settings: readonly string[],
    readonly mayBeText: boolean,
  ) {}

  read(): Term {
    const word = this.side.trim();
    const isWord = /^[A-Za-z][\w./:-]*$/.test(word);
    if (this.mayBeText && isWord && measureNamed(word, this.settings) === null) return { kind: 'text', value: word };
    this.#next();
    const term = this.#sum();
    if (this.#token !== null) throw this.#unexpected();
    return term;
  }

  #next(): void {
    TOKEN.lastIndex = this.#at;
    this.#token = TOKEN.exec(this.side);
    if (this.#token !== null) this.#at = TOKEN.lastIndex;
    else if (this.side.slice(this.#at).trim() !== '') throw this.#unexpected();
  }

  #sum(): Term {
    return this.#joined(['+', '-'], () => this.#joined(['*', '/'], () => this.#factor()));
  }

  #joined(operators: readonly string[], part: () => Term): Term {
    let left = part();
    for (let sign = this.#token?.[4]; sign !== undefined && operators.includes(sign); sign = this.#token?.[4]) {
      this.#next();
      left = { kind: sign as '+', left, right: part() };
    }
    return left;
  }

  #factor(): Term {
    const token = this.#token;
    if (token === null) throw badConstraint(this.place, this.whole, 'ends early');
    const [, number, unit, name, sign] = token;
    if (sign === '(') {
      this.#next();
      const inner = this.#sum();
      if (this.#token?.[4] !== ')') throw badConstraint(this.place, this.whole, "lacks a ')'");
      this.#next();
      return inner;
    }
    if (sign !== undefined) throw this.#unexpected();
    this.#next();
    if (number !== undefined)
      return { kind: 'number', value: Number(number) * (unit === undefined ? 1 : UNITS[unit]!) };
    const measure = measureNamed(name!, this.settings);
    if (measure === null) throw unknownMeasure(name!, this.place, this.settings);
    return { kind: 'measure', measure };
  }

  #unexpected(): InputError {
    const rest = this.#token === null ? this.side.slice(this.#at).trim() : this.#token[0].trim();
    return badConstraint(this.place, this.whole, `has '${rest}' where it cannot be read`);
  }
}

export function measuresOf({ left, right }: Pick<Constraint, 'left' | 'right'>): Measure[] {
  const collect = (term: Term): Measure[] => {
    if (term.kind === 'measure') return [term.measure];
    return 'left' in term ? [...collect(term.left), ...collect(term.right)] : [];
  };
  return [...collect(left), ...collect(right)];
}

/** Whether it is decided before anything is simulated. */
export function isOfSettings(constraint: Constraint): boolean {
  return measuresOf(constraint).every(({ kind }) => kind !== 'metric');
}

/** Null where a value is not known: a metric that a run did not measure, a setting that is not set. */
export function holds({ left, operator, right }: Constraint, lookUp: MeasureLookUp): boolean | null {
  const [a, b] = [evaluate(left, lookUp), evaluate(right, lookUp)];
  if (a === null || b === null) return null;
  if (operator === '=') return String(a) === String(b);
  if (operator === '!=') return String(a) !== String(b);
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return null;
  if (operator === '<=') return x <= y;
  if (operator === '>=') return x >= y;
  return operator === '<' ? x < y : x > y;
}

function evaluate(term: Term, lookUp: MeasureLookUp): number | string | null {
  if (term.kind === 'number' || term.kind === 'text') return term.value;
  if (term.kind === 'measure') return lookUp(term.measure);
  const [a, b] = [evaluate(term.left, lookUp), evaluate(term.right, lookUp)];
  if (a === null || b === null) return null;
  const [x, y] = [Number(a), Number(b)];
  const value = term.kind === '+' ? x + y : term.kind === '-' ? x - y : term.kind === '*' ? x * y : x / y;
  return Number.isFinite(value) ? value : null;
}

/** A measure with a bound: `ttft_p99 <= 500ms`, from either side; null for any other constraint. */
export function boundOf({
  left,
  operator,
  right,
}: Constraint): { measure: Measure; operator: Operator; value: number } | null {
  if (left.kind === 'measure' && right.kind === 'number')
    return { measure: left.measure, operator, value: right.value };
  if (left.kind !== 'number' || right.kind !== 'measure') return null;
  const turned = { '<=': '>=', '>=': '<=', '<': '>', '>': '<', '=': '=', '!=': '!=' } as const;
  return { measure: right.measure, operator: turned[operator], value: left.value };
}

/** Two constraints that no value meets: `ttft_p99 <= 1s` and `ttft_p99 >= 2s`; null where there are none. */
export function contradiction(constraints: readonly Constraint[]): readonly [Constraint, Constraint] | null {
  const nameOf = (measure: Measure) => (measure.kind === 'metric' ? measure.key : measure.name);
  for (const one of constraints) {
    const upper = boundOf(one);
    if (upper === null || !upper.operator.startsWith('<')) continue;
    for (const other of constraints) {
      const lower = boundOf(other);
      if (lower === null || !lower.operator.startsWith('>') || nameOf(lower.measure) !== nameOf(upper.measure))
        continue;
      const touches = upper.operator === '<=' && lower.operator === '>=';
      if (lower.value > upper.value || (lower.value === upper.value && !touches)) return [one, other];
    }
  }
  return null;
}

function badConstraint(place: string, text: string, problem: string): InputError {
  const hint = "write 'ttft_p99 <= 500ms', 'num-instances * tp <= 16' or 'routing-policy != round-robin'";
  return new InputError('BAD_CONSTRAINT', place, `'${text.trim()}' ${problem}`, hint);
}
