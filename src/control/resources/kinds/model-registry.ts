import type { InputError } from '../../../kernel/errors.js';
import { choice, field, pattern, required, secret, section, type Value, whole } from '../../../schema/fields.js';
import { invalidField } from '../errors.js';
import { column, defineKind } from '../kind.js';
import { description, localAddresses } from '../parts.js';

/** The kinds of registries that `control/models` can open. */
export const REGISTRY_TYPES = ['hugging-face', 'file'] as const;

const spec = section('ModelRegistry spec', {
  type: required(choice(REGISTRY_TYPES), { help: 'a Hugging Face hub, or a folder' }),
  url: field(
    pattern(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
      /^(?:https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?|file:\/\/\/[^\x00-\x1f\x7f-\x9f]*)$/u,
      "a URL such as 'https://host' or 'file:///models'",
      2048,
    ),
    { defaultText: 'huggingface.co', help: 'URL of a mirror, or of the folder' },
  ),
  token: field(secret(), { help: 'access token, sent to the registry only' }),
  local_addresses: localAddresses,
  description,
});

export type ModelRegistrySpec = Value<typeof spec>;

export const modelRegistry = defineKind({
  kind: 'ModelRegistry',
  plural: 'modelregistries',
  shortNames: ['mr', 'registry', 'registries'],
  scope: 'workspace',
  summary: 'A source of models: the Hugging Face hub, a mirror of it, or a folder.',
  changedBy: 'operator',
  spec,
  phases: ['Pending', 'Connected', 'Failed', 'Deleting'],
  status: { models: field(whole(0), { help: 'models it lists' }) },
  columns: [column('TYPE', 'spec.type'), column('PHASE', 'status.phase'), column('URL', 'spec.url', 'wide')],
  example: { type: 'file', url: 'file:///models' },
  check({ token, type, url }, placeOf) {
    const problems: InputError[] = [];
    if (type === 'file' && !url?.startsWith('file:')) {
      problems.push(invalidField(placeOf('spec.url'), 'is not a file URL', "give one such as 'file:///models'"));
    }
    if (type !== 'file' && url?.startsWith('file:')) {
      problems.push(
        invalidField(placeOf('spec.url'), 'is a folder', "give 'type: file', or a URL such as 'https://host'"),
      );
    }
    if (type === 'file' && token !== undefined) {
      problems.push(invalidField(placeOf('spec.token'), 'a folder takes no token', 'leave it out'));
    }
    return problems;
  },
});
