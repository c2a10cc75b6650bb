import * as v from 'valibot';
import { KINDS } from '../../control/resources/kinds.js';
import { POLICY_SCHEMA } from '../../policy/bundle/policy-schema.js';
import { SHADOW_SCHEMA } from '../../policy/bundle/shadow-choice.js';
import { section } from '../../schema/fields.js';
import type { FieldDifference } from '../../store/resources/resource-differences.js';
import type { ApiErrorBody } from '../error-response.js';
import { CONFIGURATION } from './configuration-view.js';
import { described, maybe, naturalNumber, nullable, openMap, string } from './parts.js';

/** What the control plane returns besides resources, and the body of every error. */

const anyResource = v.union(KINDS.map(({ schema }) => schema));

const DIFFERENCE: v.GenericSchema<unknown, Omit<FieldDifference, 'before' | 'after'>> = section('Difference', {
  path: described(string, 'path of the field, such as spec.upstreams[1].url'),
  before: maybe(v.unknown(), 'its value before; absent where it had none'),
  after: maybe(v.unknown(), 'its value now; absent where it has none'),
});

const kindFields = {
  kind: described(string, 'kind of the resource'),
  plural: described(string, 'name in paths and commands'),
  short_names: described(v.array(string), 'further names in commands'),
  scope: described(v.picklist(['global', 'workspace']), 'whether its resources belong to a workspace'),
  summary: described(string, 'what it is'),
  changed_by: described(v.picklist(['viewer', 'operator', 'admin']), 'least role that may change one'),
};

export const KIND = section('Kind', kindFields);

export const KIND_SCHEMA = section('KindSchema', {
  ...kindFields,
  example: described(openMap, 'a small valid spec'),
  schema: described(openMap, 'JSON Schema (2020-12) of the whole resource'),
});

export const APPLIED = section('Applied', {
  kind: described(v.literal('Applied'), 'always Applied'),
  dry_run: described(v.boolean(), 'whether nothing was written'),
  text: described(string, 'the changes, for people'),
  items: described(
    v.array(
      section('AppliedResource', {
        action: described(v.picklist(['created', 'changed', 'unchanged']), 'what was done'),
        differences: described(v.array(DIFFERENCE), 'what differs, without secrets; empty for one that was created'),
        resource: described(anyResource, 'the resource as it is now'),
      }),
    ),
    'in the order of the file',
  ),
});

export const EVENT = section('Event', {
  id: described(naturalNumber, 'grows with every event'),
  kind: described(string, 'kind of the resource'),
  workspace: maybe(string, 'workspace of the resource; absent for global ones'),
  name: described(string, 'name of the resource'),
  type: described(v.picklist(['normal', 'warning']), 'severity'),
  reason: described(string, 'what happened, for programs'),
  message: described(string, 'what happened, for people'),
  count: described(naturalNumber, 'how often it happened'),
  first_at: described(string, 'first time'),
  last_at: described(string, 'last time'),
});

const AUDITED = v.union([
  section('AuditedResource', {
    spec: described(openMap, 'desired state of the resource, without secrets'),
    labels: described(v.record(v.string(), string), 'its labels'),
    status: maybe(nullable(openMap), 'its status, where that was changed; null before the first one'),
  }),
  section('AuditedReplica', {
    endpoint: described(string, 'endpoint of the replica'),
    id: described(string, 'id of the replica'),
    url: described(string, 'its URL, without password'),
    engine: described(string, 'engine it runs'),
    models: maybe(nullable(v.array(string)), 'models it serves; null: read from the replica'),
  }),
  POLICY_SCHEMA,
  SHADOW_SCHEMA,
  CONFIGURATION,
]);

export const AUDIT_ENTRY = section('AuditEntry', {
  version: described(naturalNumber, 'resource version of the change'),
  at: described(string, 'time'),
  actor: described(string, 'who made the change'),
  action: described(v.picklist(['create', 'update', 'delete', 'remove', 'issue', 'revoke', 'status']), 'what was done'),
  kind: described(string, 'kind of the resource, or Replica, Policy, Shadow or Configuration of the gateway'),
  workspace: described(string, 'workspace; empty for what belongs to none'),
  name: described(string, 'name'),
  uid: described(string, 'uid of the resource; empty for what is no resource'),
  before: described(nullable(AUDITED), 'as it was; null when it did not exist'),
  after: described(nullable(AUDITED), 'as it is since; null when it no longer exists'),
});

export const REVISION = section('Revision', {
  revision: described(naturalNumber, 'generation of the resource'),
  current: described(v.boolean(), 'whether the resource has it now'),
  version: described(naturalNumber, 'resource version of the change'),
  at: described(string, 'time of the change'),
  spec: described(openMap, 'desired state since then, without secrets'),
});

export const ISSUED_KEY = section('IssuedKey', {
  kind: described(v.literal('IssuedKey'), 'always IssuedKey'),
  key_id: described(string, 'uid of the ApiKey'),
  key: described(string, 'the secret, returned this once'),
  previous_until: described(nullable(string), 'time until which the secret before is accepted; null: it no longer is'),
});

const problem = section('Problem', {
  code: described(string, 'stable; for programs'),
  place: described(string, 'where it is'),
  problem: described(string, 'what is wrong'),
  hint: described(string, 'what to do; may be empty'),
});

export const ERROR: v.GenericSchema<unknown, { error: ApiErrorBody }> = section('Error', {
  error: described(
    section('ErrorBody', {
      code: described(string, 'stable; for programs'),
      message: described(string, 'what is wrong and where; for people'),
      hint: described(string, 'what to do; may be empty'),
      problems: maybe(v.array(problem), 'everything wrong with what was sent'),
      differences: maybe(v.array(DIFFERENCE), 'with 409: what has changed since'),
      current: maybe(nullable(anyResource), 'with 409: the resource as it is; null when it does not exist'),
    }),
    'the error',
  ),
});
