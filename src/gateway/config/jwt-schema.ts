import {
  choice,
  field,
  listOf,
  map,
  pattern,
  required,
  section,
  text,
  type Value,
  whole,
} from '../../schema/fields.js';
import { KEY_GRANT_SCHEMA, KEY_LIMITS_SCHEMA, KEY_ROLES, keyName } from '../../store/keys/key-schema.js';

/** Signatures by a private key. A secret that both sides share (HS256) and none at all cannot be allowed. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
] as const;

/** Anyone between here and a plain HTTP issuer could sign tokens. */
export const ISSUER_URL =
  /^(?:https:\/\/[^\s/?#@]+|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?)(?:\/[^\s?#]*)?$/;
const issuerUrl = pattern(ISSUER_URL, 'a URL with https; http on loopback only', 2048);

const WORKSPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What a token gives its subject. */
const JWT_RULE_SCHEMA = section('JwtRule', {
  claim: field(text(200), {
    defaultText: 'any token',
    help: 'claim that a token must have, by name or as a path such as `realm_access.roles`',
  }),
  value: field(text(200), { defaultText: 'any value', help: 'value of the claim, or one of its values' }),
  workspace: field(pattern(WORKSPACE, 'the name of a workspace', 63), {
    default: 'default',
    help: 'workspace that the subject belongs to',
  }),
  workspace_claim: field(text(200), {
    defaultText: 'none',
    help: 'claim with the name of the workspace, in its place',
  }),
  role: field(choice(KEY_ROLES), { default: 'none', help: 'role on the API, in the workspace' }),
  global_role: field(choice(KEY_ROLES), { default: 'none', help: 'role on the API, in every workspace' }),
  tenant: field(keyName, { defaultText: 'the workspace', help: 'tenant its requests count for where tenants share' }),
  models: field(listOf(keyName, 1, 1000), { defaultText: 'all', help: 'models it may use' }),
  grants: field(listOf(KEY_GRANT_SCHEMA, 0, 100), { default: [], help: 'workspaces it reaches besides its own' }),
  max_slo_class: field(keyName, { defaultText: 'any', help: 'the most important SLO class its requests may use' }),
  limits: field(map('models', KEY_LIMITS_SCHEMA, keyName), {
    default: {},
    help: "limits of each subject by model; those of '*' hold for all models together",
  }),
});

export type JwtRule = Value<typeof JWT_RULE_SCHEMA>;

/** Tokens of an OpenID Connect issuer, accepted like API keys. */
export const JWT_SCHEMA = section('Jwt', {
  issuer: required(issuerUrl, { help: 'issuer of the tokens, exactly as in their `iss`' }),
  audience: required(listOf(text(200), 1, 100), { help: 'accepted values of `aud`' }),
  jwks_url: field(issuerUrl, {
    defaultText: "from the issuer's /.well-known/openid-configuration",
    help: 'URL of its public keys',
  }),
  algorithms: field(listOf(choice(ALGORITHMS), 1, ALGORITHMS.length), {
    default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    help: 'accepted signature algorithms',
  }),
  leeway_s: field(whole(0, 600), { default: 30, help: 'difference of clocks allowed for `exp`, `nbf` and `iat`' }),
  subject_claim: field(text(200), {
    default: 'sub',
    help: 'claim that names the subject, by which usage and limits count',
  }),
  rules: required(listOf(JWT_RULE_SCHEMA, 1, 1000), { help: 'what tokens give; the first rule that fits holds' }),
});

export type JwtConfig = Value<typeof JWT_SCHEMA>;
