import { POD_PLACEHOLDERS, type PodTemplate } from './default-pod.js';
import { isFields } from './merge-pod.js';

/** Values of placeholders; a list for one that ends with `...`, undefined for one without a value. */
export type PodValues = Readonly<Record<string, string | number | readonly unknown[] | undefined>>;

/** `${name}` is left to shells. */
const PLACEHOLDER = /(?<!\$)\{([a-z_]+(?:\.\.\.)?)\}/g;

/**
 * A pod template with its placeholders filled in. A value that is nothing but a placeholder becomes a number where that is one,
 * except in lists and in values of the environment, which are text in Kubernetes. A list inside of a list is part of that list, and
 * left out when one of its placeholders has no value.
 */
export function filledPod(template: PodTemplate, values: PodValues): Record<string, unknown> {
  return filledMap(template, values);
}

function filledMap(map: PodTemplate, values: PodValues): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => {
      if (Array.isArray(value)) return [key, byName(key, filledList(value, values))];
      if (isFields(value)) return [key, filledMap(value, values)];
      const alone = typeof value === 'string' && key !== 'value' ? /^\{([a-z_]+)\}$/.exec(value)?.[1] : undefined;
      if (alone !== undefined && typeof values[alone] === 'number') return [key, values[alone]];
      return [key, typeof value === 'string' ? filledText(value, values) : value];
    }),
  );
}

function filledList(list: readonly unknown[], values: PodValues): unknown[] {
  return list.flatMap((item): readonly unknown[] => {
    if (Array.isArray(item)) return isMissing(item, values) ? [] : filledList(item, values);
    if (isFields(item)) return [filledMap(item, values)];
    if (typeof item !== 'string') return [item];
    const spread = /^\{([a-z_]+\.\.\.)\}$/.exec(item)?.[1];
    const items = spread === undefined ? undefined : values[spread];
    return Array.isArray(items) ? items : [filledText(item, values)];
  });
}

const filledText = (text: string, values: PodValues) =>
  text.replaceAll(PLACEHOLDER, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return Object.hasOwn(values, name) ? '' : whole;
    return typeof value === 'object' ? whole : String(value);
  });

const isMissing = (list: readonly unknown[], values: PodValues) =>
  list.some((item) => typeof item === 'string' && namesIn(item).some((name) => values[name] === undefined));

/** Kubernetes refuses two variables of one name: the last one counts. */
function byName(key: string, items: readonly unknown[]): readonly unknown[] {
  if (key !== 'env') return items;
  const nameOf = (item: unknown) => (isFields(item) ? item.name : item);
  return items.filter((item, i) => !items.slice(i + 1).some((later) => nameOf(later) === nameOf(item)));
}

const namesIn = (text: string) => [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!);

/** A text of a template that cannot be filled in, and the path to it: `.containers[0].image`. */
export interface TemplateProblem {
  readonly path: string;
  readonly problem: string;
  readonly hint: string;
}

/** Unknown placeholders, and lists of items that do not stand alone in a list. */
export function templateProblems(value: unknown, path = '', isItem = false): TemplateProblem[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => templateProblems(item, `${path}[${i}]`, true));
  if (isFields(value)) {
    return Object.entries(value).flatMap(([key, inner]) => templateProblems(inner, `${path}.${key}`));
  }
  if (typeof value !== 'string') return [];
  return namesIn(value).flatMap((name) => {
    if (!(POD_PLACEHOLDERS as readonly string[]).includes(name)) {
      const hint = `give one of ${POD_PLACEHOLDERS.map((one) => `{${one}}`).join(' ')}`;
      return [{ path, problem: `unknown placeholder {${name}}`, hint }];
    }
    if (!name.endsWith('...') || (isItem && value === `{${name}}`)) return [];
    return [{ path, problem: `{${name}} is a list`, hint: 'give it alone as an item of a list' }];
  });
}
