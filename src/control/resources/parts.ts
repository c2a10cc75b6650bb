import { z } from 'zod';
import { DEFAULT_WORKSPACE } from './resource.js';

/** What several kinds are made of. Descriptions become documentation and OpenAPI. */

/** A DNS label, so that a name can be part of a path, a host or a process. */
export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const MEMORY = /^[1-9][0-9]{0,8}(?:\.[0-9]{1,3})?(?:Mi|Gi|Ti)$/;

export const name = z.string().regex(NAME, 'a name: 1 to 63 of a-z, 0-9 and -, with no - at an end');
export const text = z
  .string()
  .max(4096)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused; not every reader of the schema knows \p{Cc}
  .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/u, 'a text without control characters');
export const url = z
  .string()
  .max(2048)
  .regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the same
    /^https?:\/\/[^\s/?#@\u0000-\u001f\u007f-\u009f]+(?:\/[^\s?#\u0000-\u001f\u007f-\u009f]*)?$/u,
    "an address as 'https://host/path', without user or query",
  );

/** Kept encrypted, and never shown again. */
export const secret = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x21-\x7e]+$|^\*\*\*$/, 'a secret of printable characters without spaces')
  .meta({ writeOnly: true, format: 'password' });

/** The same for what no header has to carry: several lines, spaces and all. */
export const secretText = z
  .string()
  .min(1)
  .max(32_768)
  .regex(/^[^\0]+$/, 'a text')
  .meta({ writeOnly: true, format: 'password' });

export const memory = z.string().regex(MEMORY, "an amount as '512Mi' or '16Gi'");

const UNITS = { Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** The bytes of an amount that the schema has let through. */
export function memoryBytes(amount: string): number {
  return Math.floor(Number(amount.slice(0, -2)) * UNITS[amount.slice(-2) as keyof typeof UNITS]);
}

export const environmentValue = z
  .string()
  .max(32_768)
  .regex(/^[^\0]*$/, 'a text without zero bytes');
export const environmentName = z.string().regex(ENVIRONMENT_NAME, 'the name of an environment variable');
export const labels = z.record(
  z.string().regex(LABEL_KEY, "a label's name, as 'team' or 'example.org/team'"),
  z.string().regex(LABEL_VALUE, 'at most 63 letters, digits, - _ and .'),
);

const kept = <Type extends z.ZodType>(type: Type) => type.optional().describe('Set by the control plane');

const shared = {
  name: name.describe('What it is called, once per kind and workspace'),
  labels: labels.default({}).describe('Facts of your own to select it by'),
  uid: kept(z.string().max(64)),
  generation: kept(z.int().min(1)),
  resource_version: z.int().min(1).optional().describe('Given with a change: refuse it if somebody else came first'),
  created_at: kept(z.string().max(40)),
  updated_at: kept(z.string().max(40)),
  deleted_at: kept(z.string().max(40)),
};

export const globalMetadata = z.strictObject(shared);
export const workspaceMetadata = z.strictObject({
  ...shared,
  workspace: name.default(DEFAULT_WORKSPACE).describe('Where it belongs'),
});

export const condition = z.strictObject({
  type: z.string(),
  status: z.boolean(),
  reason: z.string().default(''),
  message: z.string().default(''),
  since: z.string(),
});

/** The status of a kind: what all have, and what is its own. */
export function statusOf(phases: readonly [string, ...string[]], more: z.ZodRawShape) {
  return z.strictObject({
    phase: z.enum(phases).describe('Where it stands'),
    message: z.string().default('').describe('Why, in words'),
    observed_generation: z.int().min(0).default(0).describe('The generation this was said of'),
    conditions: z.array(condition).default([]),
    ...more,
  });
}
