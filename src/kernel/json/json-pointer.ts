/** Why a JSON patch (RFC 6902) cannot be applied, and in which of its operations. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';

  constructor(
    /** Behind the name of the list: `[2].path`; empty for the list itself. */
    readonly place: string,
    readonly problem: string,
    readonly hint: string,
    /** A pointer to what is not there: how its fields can be seen depends on the document. */
    readonly isMissing = false,
  ) {
    super(`${place}: ${problem}; ${hint}`);
  }
}

type Holder = Record<string, unknown> | unknown[];

const LONGEST = 4096;

/** The steps of a JSON pointer (RFC 6901). Throws for one that is none, or that names a prototype. */
export function pointerSteps(given: unknown, place: string): string[] {
  if (typeof given !== 'string' || (given !== '' && !given.startsWith('/'))) {
    throw new JsonPatchError(place, 'is not a JSON pointer', "write one as in '/spec/replicas'");
  }
  if (given.length > LONGEST)
    throw new JsonPatchError(place, `has more than ${LONGEST} characters`, 'no document is that deep');
  const steps = given === '' ? [] : given.slice(1).split('/');
  return steps.map((step) => checkedKey(step.replace(/~1/g, '/').replace(/~0/g, '~'), place));
}

/** Keys that JavaScript takes for something else are refused rather than dropped. */
function checkedKey(key: string, place: string): string {
  if (key === '__proto__') throw new JsonPatchError(place, `'${key}' is not a key`, 'leave it out');
  return key;
}

export function valueAt(document: unknown, steps: readonly string[], place: string): unknown {
  let value = document;
  for (const step of steps) value = childOf(value, step, place);
  return value;
}

/** Adds or replaces a value; in a list it is inserted before the index, or at the end for `-`. */
export function addAt(document: unknown, steps: readonly string[], value: unknown, place: string): unknown {
  if (steps.length === 0) return value;
  const [holder, last] = holderOf(document, steps, place);
  if (Array.isArray(holder)) holder.splice(last === '-' ? holder.length : indexIn(holder, last, place, 1), 0, value);
  else holder[last] = value;
  return document;
}

export function replaceAt(document: unknown, steps: readonly string[], value: unknown, place: string): unknown {
  if (steps.length === 0) return value;
  const [holder, last] = holderOf(document, steps, place);
  childOf(holder, last, place);
  if (Array.isArray(holder)) holder[indexIn(holder, last, place)] = value;
  else holder[last] = value;
  return document;
}

export function removeAt(document: unknown, steps: readonly string[], place: string): void {
  if (steps.length === 0) throw new JsonPatchError(place, 'names the whole document', 'give the pointer of a field');
  const [holder, last] = holderOf(document, steps, place);
  childOf(holder, last, place);
  if (Array.isArray(holder)) holder.splice(indexIn(holder, last, place), 1);
  else delete holder[last];
}

function holderOf(document: unknown, steps: readonly string[], place: string): [Holder, string] {
  const holder = valueAt(document, steps.slice(0, -1), place);
  if (typeof holder !== 'object' || holder === null) throw nothingThere(place);
  return [holder as Holder, steps.at(-1)!];
}

function childOf(value: unknown, step: string, place: string): unknown {
  if (Array.isArray(value)) return value[indexIn(value, step, place)];
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) throw nothingThere(place);
  return (value as Record<string, unknown>)[step];
}

/** @param beyond 1 where the place after the last item counts */
function indexIn(list: readonly unknown[], step: string, place: string, beyond = 0): number {
  if (!/^(?:0|[1-9]\d{0,8})$/.test(step) || Number(step) >= list.length + beyond) throw nothingThere(place);
  return Number(step);
}

const nothingThere = (place: string) =>
  new JsonPatchError(place, 'names a field that does not exist', 'give the pointer of one that does', true);
