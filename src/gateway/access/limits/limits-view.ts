import { snakeCase } from '../../../schema/names.js';
import { type KeyRecord, LIMIT_NAMES, type Limits } from '../../../store/keys/key-record.js';
import { type Account, NANOS_PER_DOLLAR } from '../account/account.js';
import type { LimitName } from '../account/shortage.js';

/** The rest of one limit. Money is in dollars. */
export interface LimitView {
  limit: number;
  used: number;
  left: number;
  /** Seconds until nothing would be counted any more; null where it is not known, as for requests under way. */
  reset_s: number | null;
}

/** The rest of each limit of a key, by model; those under `*` hold for all models together. */
export interface LimitsView {
  id: string;
  /** By the store's clock. */
  at: string;
  limits: Record<string, Record<string, LimitView>>;
}

/** @param accounts of the key by scope, advanced to `atMs` */
export function limitsView(
  { id, limits }: KeyRecord,
  accounts: ReadonlyMap<string, Account>,
  atMs: number,
): LimitsView {
  // A key that is revoked has limits and no accounts.
  const views = [...accounts].map(([scope, account]) => [scope, accountView(account, limits[scope]!)]);
  return { id, at: new Date(atMs).toISOString(), limits: Object.fromEntries(views) };
}

function accountView(account: Account, limits: Limits): Record<string, LimitView> {
  const given = LIMIT_NAMES.filter((name) => limits[name] !== undefined);
  return Object.fromEntries(given.map((name) => [snakeCase(name), limitView(account, name, limits[name]!)]));
}

/** Money is counted in whole nano-dollars, so that the rest is exact. */
function limitView(account: Account, name: LimitName, limit: number): LimitView {
  const unit = name.startsWith('dollars') ? NANOS_PER_DOLLAR : 1;
  const [used, resetS] = COUNTS[name](account);
  const left = Math.max(0, Math.round(limit * unit) - used);
  return { limit, used: used / unit, left: left / unit, reset_s: resetS };
}

/** How much of each limit is used, and in how many seconds nothing of it would be. */
const COUNTS: Readonly<Record<LimitName, (account: Account) => [used: number, resetS: number | null]>> = {
  requestsPerMinute: ({ requests }) => [requests.total, requests.secondsUntil(0)],
  tokensPerMinute: ({ tokens }) => [tokens.total, tokens.secondsUntil(0)],
  concurrent: ({ seatsTaken }) => [seatsTaken, null],
  tokensPerDay: ({ day, requests }) => [day.tokens, day.end - requests.second],
  tokensPerMonth: ({ month, requests }) => [month.tokens, month.end - requests.second],
  dollarsPerDay: ({ day, requests }) => [day.nanos, day.end - requests.second],
  dollarsPerMonth: ({ month, requests }) => [month.nanos, month.end - requests.second],
};
