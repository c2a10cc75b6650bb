import type { YamlErrors } from '../kernel/yaml/read-schema.js';
import type { Kind } from '../kernel/yaml/schema.js';
import { readStrictYaml } from '../kernel/yaml/strict-yaml.js';
import type { YamlPlaces } from '../kernel/yaml/yaml-places.js';

export interface JsonBody {
  /** As it was sent. */
  json: unknown;
  /** What was found of the kind, checked; what was left empty is absent. */
  value: unknown;
  places: YamlPlaces;
}

/**
 * JSON is read as what it also is, YAML, by the same tables as files: but what is no JSON is refused first.
 * @param start how such a body begins, for one that is empty
 */
export function readJsonBody(text: string, kind: Kind, errors: YamlErrors, start: string): JsonBody {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own words would repeat what was sent.
    throw errors.invalid('body', 'is not valid JSON', start);
  }
  return { json, ...readStrictYaml(JSON.stringify(json), 'body', kind, errors, start) };
}
