import { timingSafeEqual } from 'node:crypto';
import { KEY_ROLES, type KeyRole } from '../../store/keys/key-record.js';

/** Whether a role is as much as is asked for: each has what those before it have. */
export function isEnough(role: KeyRole, wanted: KeyRole): boolean {
  return KEY_ROLES.indexOf(role) >= KEY_ROLES.indexOf(wanted);
}

/** Whether this is the token that was printed at the start. In constant time: how far a guess is right must not show. */
export function isToken(authorization: string, token: string): boolean {
  const given = Buffer.from(authorization);
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
