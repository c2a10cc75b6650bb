import type { Resource } from '../../../control/resources/resource.js';
import { badValue } from '../../errors.js';
import type { Flag } from '../../flags/flag.js';
import { badColumns } from '../errors.js';
import { readJsonPath, valueText } from '../json-path/json-path.js';
import { readJsonPathTemplate } from '../json-path/json-path-template.js';

/** A column of `-o custom-columns`. */
export interface CustomColumn {
  readonly title: string;
  value(resource: Resource): string;
}

/** How resources are printed. */
export type ResourceFormat =
  | { readonly type: 'table' | 'wide' | 'yaml' | 'json' | 'name' }
  | { readonly type: 'jsonpath'; readonly print: (document: unknown) => string }
  | { readonly type: 'custom-columns'; readonly columns: readonly CustomColumn[] };

const PLAIN = ['table', 'wide', 'yaml', 'json', 'name'] as const;
const ACCEPTED = `${PLAIN.join(', ')}, jsonpath=TEMPLATE or custom-columns=TITLE:PATH,...`;

/** What a path of custom-columns prints where it leads to nothing, as kubectl does. */
const NONE = '<none>';

const output: Flag<ResourceFormat> = {
  kind: 'list',
  placeholder: 'format',
  help: 'output format',
  default: { type: 'table' },
  defaultText: 'table',
  accepted: ACCEPTED,
  aliases: [],
  letter: 'o',
  suggestions: async () => [...PLAIN, 'jsonpath=', 'custom-columns='],
  read(given, place) {
    const plain = PLAIN.find((one) => one === given);
    if (plain !== undefined) return { type: plain };
    const [, type, text] = /^(jsonpath|custom-columns)=(.*)$/s.exec(given) ?? [];
    if (type === 'jsonpath') return { type, print: readJsonPathTemplate(text!, place) };
    if (type === 'custom-columns') return { type, columns: columnsIn(text!, place) };
    throw badValue(place, given, 'is not an output format', ACCEPTED);
  },
};

export const formatFlag = { output };

function columnsIn(given: string, place: string): CustomColumn[] {
  // Commas inside brackets belong to a path.
  return given.split(/,(?![^[]*\])/).map((one) => {
    const [, title, path] = /^([^:]+):(.+)$/s.exec(one.trim()) ?? [];
    if (title === undefined) throw badColumns(place, one);
    const find = readJsonPath(path!, place);
    return {
      title,
      value: (resource) => find(resource, resource).map(valueText).join(',') || NONE,
    };
  });
}
