import type { JwtConfig } from '../../gateway/config/jwt-schema.js';
import { type Check, findingOf, fine } from './check.js';

/** Whether the issuer of tokens responds, and how many keys it has. */
export async function checkIssuer(jwt: JwtConfig): Promise<Check[]> {
  const { fetchKeys } = await import('../../gateway/access/tokens/issuer-keys.js');
  try {
    const { keys } = await fetchKeys(jwt);
    return [fine('issuer', jwt.issuer, `responds, public keys: ${keys.length}`)];
  } catch (error) {
    const hint = 'check access.jwt.issuer, which must be exactly the issuer that its discovery document names';
    return [findingOf('issuer', jwt.issuer, error, hint)];
  }
}
