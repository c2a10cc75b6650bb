import { z } from 'zod';
import type { InputError } from '../../../kernel/errors.js';
import { invalidField } from '../errors.js';
import { column, defineKind } from '../kind.js';
import { secret, text } from '../parts.js';

/** The kinds of registries that `control/models` can open. */
export const REGISTRY_TYPES = ['hugging-face', 'file'] as const;

const spec = z.strictObject({
  type: z.enum(REGISTRY_TYPES).describe('What kind of place it is'),
  url: z
    .string()
    .max(2048)
    .regex(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused; not every reader of the schema knows \p{Cc}
      /^(?:https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?|file:\/\/\/[^\u0000-\u001f\u007f-\u009f]*)$/u,
      "an address as 'https://host' or 'file:///models'",
    )
    .optional()
    .describe('A mirror, or the folder'),
  token: secret.optional().describe('Sent to the registry and to nobody else'),
  description: text.default(''),
});

export type ModelRegistrySpec = z.output<typeof spec>;

export const modelRegistry = defineKind({
  kind: 'ModelRegistry',
  plural: 'modelregistries',
  shortNames: ['mr', 'registry', 'registries'],
  scope: 'workspace',
  summary: 'A place that models come from: the Hugging Face hub or a mirror of it, or a folder.',
  changedBy: 'operator',
  spec,
  phases: ['Pending', 'Connected', 'Failed', 'Deleting'],
  status: { models: z.int().min(0).optional().describe('How many it lists') },
  columns: [column('TYPE', 'spec.type'), column('PHASE', 'status.phase'), column('URL', 'spec.url', 'wide')],
  example: { type: 'file', url: 'file:///models' },
  check({ token, type, url }, placeOf) {
    const problems: InputError[] = [];
    if (type === 'file' && !url?.startsWith('file:')) {
      problems.push(
        invalidField(placeOf('spec.url'), 'is not the address of a folder', "give one as 'file:///models'"),
      );
    }
    if (type !== 'file' && url?.startsWith('file:')) {
      problems.push(
        invalidField(placeOf('spec.url'), 'is a folder', "give 'type: file', or an address as 'https://host'"),
      );
    }
    if (type === 'file' && token !== undefined) {
      problems.push(invalidField(placeOf('spec.token'), 'a folder takes none', 'leave it out'));
    }
    return problems;
  },
});
