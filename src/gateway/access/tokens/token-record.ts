import { createHash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { camelKeys } from '../../../schema/names.js';
import { type KeyRecord, subjectIdOf } from '../../../store/keys/key-record.js';
import type { JwtConfig, JwtRule } from '../../config/jwt-schema.js';

const WORKSPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Subjects that may be part of an id as they are. */
const PLAIN = /^[\w.@:|+-]{1,128}$/;
/** No text has this digest: a token is never found as the secret of a key. */
const NO_HASH = '0'.repeat(64);

/** What a token gives its subject, in the form of a key; null when no rule fits, or it names no subject or workspace. */
export function tokenRecord(claims: JWTPayload, { rules, subject_claim }: JwtConfig): KeyRecord | null {
  const subject = claimOf(claims, subject_claim);
  const rule = rules.find((one) => fits(one, claims));
  if (typeof subject !== 'string' || subject === '' || rule === undefined) return null;
  const workspace = rule.workspace_claim === undefined ? rule.workspace : claimOf(claims, rule.workspace_claim);
  if (typeof workspace !== 'string' || !WORKSPACE.test(workspace)) return null;
  // No plain subject begins so: none can take the account of another.
  const name = PLAIN.test(subject) ? subject : `~${createHash('sha256').update(subject).digest('hex').slice(0, 32)}`;
  return {
    id: subjectIdOf(workspace, name),
    workspace,
    name: `jwt:${name}`,
    hash: NO_HASH,
    previousHash: null,
    previousUntil: null,
    tenant: rule.tenant ?? workspace,
    models: rule.models ?? null,
    grants: rule.grants,
    maxSloClass: rule.max_slo_class ?? null,
    role: rule.global_role,
    workspaceRole: rule.role,
    limits: Object.fromEntries(Object.entries(rule.limits).map(([model, of]) => [model, camelKeys(of)])),
    expiresAt: null,
    revokedAt: null,
  };
}

function fits({ claim, value }: JwtRule, claims: JWTPayload): boolean {
  if (claim === undefined) return true;
  const found = claimOf(claims, claim);
  if (found === undefined || found === null) return false;
  if (value === undefined) return true;
  return Array.isArray(found) ? found.includes(value) : typeof found !== 'object' && String(found) === value;
}

/** A claim by its name, which may have dots itself, or by its path. */
function claimOf(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let found: unknown = claims;
  for (const step of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}
