import * as v from 'valibot';
import {
  above,
  choice,
  field,
  type Given,
  listOf,
  map,
  pattern,
  required,
  section,
  text,
  time,
  type Value,
  whole,
} from '../../schema/fields.js';
import { type CamelKeys, camelCase } from '../../schema/names.js';

/** From no access to everything; each includes those before it. */
export const KEY_ROLES = ['none', 'viewer', 'operator', 'admin'] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

/** Sums of nano-dollars stay exact up to here. */
const MOST_DOLLARS = 9_000_000;

/** Names of keys, tenants, models and SLO classes. */
export const keyName = v.pipe(
  text(200),
  v.check((name) => name.trim() !== '', 'is empty'),
);

const count = whole(1);
const dollars = above(0, MOST_DOLLARS);

/** What a key may use of one model, or of all of them; omitted limits do not apply. Days and months are UTC. */
export const KEY_LIMITS_SCHEMA = section('Limits', {
  requests_per_minute: field(count, { help: 'requests started per minute' }),
  tokens_per_minute: field(count, { help: 'input and output tokens per minute' }),
  concurrent: field(count, { help: 'requests in progress at the same time' }),
  tokens_per_day: field(count, { help: 'input and output tokens per day, UTC' }),
  tokens_per_month: field(count, { help: 'input and output tokens per month, UTC' }),
  dollars_per_day: field(dollars, { help: "cost per day, UTC, by the gateway's prices" }),
  dollars_per_month: field(dollars, { help: "cost per month, UTC, by the gateway's prices" }),
  body_bytes: field(whole(1024), { help: "size of a request body, at most the gateway's limits.body_bytes" }),
});

/** Limits as code reads them. */
export type Limits = Readonly<CamelKeys<Given<typeof KEY_LIMITS_SCHEMA>>>;

/** Limits of what a key uses over time, as against the size of one request. */
type CountedLimit = Exclude<keyof Limits, 'bodyBytes'>;

/** Every limit that is counted, in the order in which they are shown. */
export const LIMIT_NAMES = Object.keys(KEY_LIMITS_SCHEMA.entries)
  .map(camelCase)
  .filter((name) => name !== 'bodyBytes') as CountedLimit[];

/** A workspace that a key reaches besides its own. */
export const KEY_GRANT_SCHEMA = section('Grant', {
  workspace: required(
    pattern(/^(?:\*|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/, "the name of a workspace, or '*' for every workspace", 63),
    { help: "workspace whose endpoints it reaches; '*' for every workspace" },
  ),
  models: field(listOf(keyName, 1, 1000), { defaultText: 'all', help: 'models of that workspace it reaches' }),
});

export type KeyGrant = Value<typeof KEY_GRANT_SCHEMA>;

/**
 * The settings of an API key, apart from its name: the spec of an ApiKey, the flags of `twinyard keys` and the check of the store
 * all come from here.
 */
export const KEY_SCHEMA = section('ApiKey', {
  tenant: field(keyName, {
    defaultText: 'the name of the key',
    help: 'tenant its requests count for where tenants share',
  }),
  models: field(listOf(keyName, 1, 1000), {
    defaultText: 'all',
    help: 'models it may use',
    flag: { name: 'model' },
  }),
  grants: field(listOf(KEY_GRANT_SCHEMA, 0, 100), {
    default: [],
    help: 'workspaces it reaches besides its own; each is given by an admin of that workspace',
    flag: { name: 'grant' },
  }),
  max_slo_class: field(keyName, {
    defaultText: 'any',
    help: 'the most important SLO class its requests may use',
  }),
  role: field(choice(KEY_ROLES), { default: 'none', help: 'role on the API, in every workspace' }),
  limits: field(map('models', KEY_LIMITS_SCHEMA, keyName), {
    default: {},
    help: "limits by model; those of '*' hold for all models together",
    flag: { name: 'limit' },
  }),
  expires_at: field(time, {
    defaultText: 'never',
    help: 'time after which it is refused',
    flag: { name: 'expires' },
  }),
});

export type KeySpec = Value<typeof KEY_SCHEMA>;
