import * as v from 'valibot';
import { PATCH_OPERATIONS } from '../../kernel/json/json-patch.js';
import {
  any,
  choice,
  field,
  flag,
  list,
  listOf,
  map,
  pattern,
  required,
  secret,
  section,
  text,
  whole,
} from '../../schema/fields.js';
import { DEFAULT_WORKSPACE } from './resource.js';

/** Schemas that several kinds share. */

/** A DNS label, so that a name can be part of a path, a host or a process. */
export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
/** As commands print it as well: `48.0 GiB`. */
const MEMORY = /^(?:[1-9][0-9]{0,8}(?:\.[0-9]{1,3})?|0\.(?=0*[1-9])[0-9]{1,3}) ?(?:Mi|Gi|Ti)B?$/;

export const name = pattern(NAME, 'a name of a-z, 0-9 and -, at most 63 characters');

/** Text that may be empty. */
export const description = field(text(4096, 0), { default: '', help: 'description' });

export const url = pattern(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
  /^https?:\/\/[^\s/?#@\x00-\x1f\x7f-\x9f]+(?:\/[^\s?#\x00-\x1f\x7f-\x9f]*)?$/u,
  "a URL such as 'https://host/path', without user or query",
  2048,
);

export const localAddresses = field(flag, {
  defaultText: 'true if an admin applies it, else false',
  help: 'whether loopback, link-local and metadata addresses may be reached; only an admin can allow it',
});

/** A secret that is not sent in a header: it may contain spaces and line breaks. */
export const secretText = secret(32_768, /^[^\0]+$/, 'a secret without zero bytes');

export const memory = pattern(MEMORY, "an amount such as '512Mi', '16Gi' or '48.0 GiB'");

const UNITS = { Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** The bytes of an amount that the schema has accepted. */
export function memoryBytes(amount: string): number {
  const [, number, unit] = /^([\d.]+) ?(Mi|Gi|Ti)/.exec(amount)!;
  return Math.floor(Number(number) * UNITS[unit as keyof typeof UNITS]);
}

const environmentName = pattern(ENVIRONMENT_NAME, 'the name of an environment variable');
export const environment = <S extends v.GenericSchema>(of: S) => map('variables', of, environmentName);
export const environmentValue = pattern(/^[^\0]*$/, 'text without zero bytes', 32_768);

const labels = map(
  'labels',
  pattern(LABEL_VALUE, 'at most 63 letters, digits, - _ and .'),
  pattern(LABEL_KEY, "a label name such as 'team' or 'example.org/team'"),
);

const kept = <S extends v.GenericSchema>(schema: S) => field(schema, { help: 'set by the control plane' });

const shared = {
  name: required(name, { help: 'unique per kind and workspace' }),
  labels: field(labels, { default: {}, help: 'labels to select it by' }),
  uid: kept(text(64)),
  generation: kept(whole(1)),
  resource_version: field(whole(1), { help: 'given with a change: refuse it if the resource has changed since' }),
  created_at: kept(text(40)),
  updated_at: kept(text(40)),
  deleted_at: kept(text(40)),
};

export const globalMetadata = section('Metadata', shared);
export const workspaceMetadata = section('Workspace metadata', {
  ...shared,
  workspace: field(name, { default: DEFAULT_WORKSPACE, help: 'workspace it belongs to' }),
});

/** Text that the control plane writes. */
export const written = v.string();
export const anyMap = required(map('names', any), { accepts: 'a map' });

const MOST_PATCHES = 100;

/** Operations on a manifest, checked further by `pod-problems.ts`. */
export const jsonPatches = listOf(
  section('JSON patch operation', {
    op: required(choice(PATCH_OPERATIONS), { help: 'what to do' }),
    path: required(text(), { help: 'JSON pointer, such as /spec/template/spec/hostIPC' }),
    from: field(text(), { help: 'JSON pointer, for move and copy' }),
    value: field(any, { help: 'any value, for add, replace and test' }),
  }),
  0,
  MOST_PATCHES,
);

const condition = section('Condition', {
  type: required(written, { help: 'name of the condition' }),
  status: required(flag, { help: 'whether it holds' }),
  reason: field(written, { default: '', help: 'reason as one word' }),
  message: field(written, { default: '', help: 'reason in words' }),
  since: required(written, { help: 'time of the last change' }),
});

/** The status of a kind: what all have, and its own fields. */
export function statusOf(phases: readonly [string, ...string[]], more: v.ObjectEntries) {
  return section('Status', {
    phase: required(choice(phases), { help: 'observed state' }),
    message: field(written, { default: '', help: 'reason in words' }),
    observed_generation: field(whole(0), { default: 0, help: 'generation of the spec that was observed' }),
    conditions: field(list(condition), { default: [], help: 'conditions' }),
    ...more,
  });
}
