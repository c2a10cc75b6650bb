import { timingSafeEqual } from 'node:crypto';
import { KEY_MISSING, KEY_WRONG, tooManyWrongKeys } from '../../gateway/access/errors.js';
import { WrongKeys } from '../../gateway/access/keys/wrong-keys.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { AdminCall } from '../../gateway/server/admin-api.js';
import { ApiError } from '../../protocol/errors.js';
import type { KeyRecord } from '../../store/keys/key-record.js';
import { Unauthenticated } from '../errors.js';

/** The caller: the holder of the admin token or of an API key. */
export type Authenticated = 'admin-token' | KeyRecord;

type Credentials = Pick<AdminCall, 'address' | 'header'>;

/** Checks the credentials of calls against the admin token and the keys of a gateway. */
export class Authenticator {
  readonly #gateway: Pick<Gateway, 'adminToken' | 'config' | 'holders' | 'nowMs'>;
  readonly #wrong: WrongKeys;

  constructor(gateway: Pick<Gateway, 'adminToken' | 'config' | 'holders' | 'nowMs'>) {
    this.#gateway = gateway;
    this.#wrong = new WrongKeys(gateway.config.access.wrongKeysPerMinute);
  }

  /**
   * Throws `Unauthenticated`. Valid credentials are always accepted: failures from an address only limit how many more
   * invalid ones are checked, because the secrets have too many random bits to guess.
   */
  async check({ address, header }: Credentials): Promise<Authenticated> {
    const { adminToken, holders } = this.#gateway;
    const authorization = header('authorization');
    if (isToken(authorization ?? '', adminToken)) return 'admin-token';
    if (holders === null) throw this.#refuse(authorization, address);
    await holders.resolve(authorization, header('x-api-key'));
    const found = holders.check(authorization, header('x-api-key'), address);
    if (!(found instanceof ApiError)) return found.record;
    const isPlain = found === KEY_MISSING || found === KEY_WRONG;
    throw refusal(found, isPlain ? 'the admin token, or an API key with a role, is missing or wrong' : found.message);
  }

  #refuse(authorization: string | undefined, address: string): Unauthenticated {
    const { config, nowMs } = this.#gateway;
    const problem = 'the admin token is missing or wrong';
    if (authorization === undefined) return new Unauthenticated(401, problem);
    this.#wrong.mostPerMinute = config.access.wrongKeysPerMinute;
    const waitS = this.#wrong.count(address, nowMs.call(this.#gateway));
    return waitS === 0 ? new Unauthenticated(401, problem) : refusal(tooManyWrongKeys(waitS));
  }
}

function refusal({ message, retryAfterS, status }: ApiError, problem = message): Unauthenticated {
  return new Unauthenticated(status === 429 ? 429 : 401, problem, retryAfterS);
}

/** In constant time: how far a guess is right must not show. */
function isToken(authorization: string, token: string): boolean {
  const given = Buffer.from(authorization);
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
