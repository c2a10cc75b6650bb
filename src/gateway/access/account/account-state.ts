import type { Account } from './account.js';

/**
 * An account as the store keeps it. Minutes are counts by second, oldest first, up to `second`; leading zeros are left
 * out.
 */
interface AccountState {
  second: number;
  requests: readonly number[];
  tokens: readonly number[];
  /** When it began, and the tokens and nano-dollars since. */
  day: readonly [number, number, number];
  month: readonly [number, number, number];
  /** Requests under way, by the gateway that admitted them. */
  seats: Readonly<Record<string, number>>;
}

/** @param gateway under which the seats held here are written */
export function writeState(account: Account, gateway: string): string {
  const { day, month, requests, tokens } = account;
  const seats = Object.fromEntries(account.seatsElsewhere);
  if (account.seats > 0) seats[gateway] = account.seats;
  const state: AccountState = {
    second: requests.second,
    requests: withoutLeadingNoughts(requests.toArray()),
    tokens: withoutLeadingNoughts(tokens.toArray()),
    day: [day.start, day.tokens, day.nanos],
    month: [month.start, month.tokens, month.nanos],
    seats,
  };
  return JSON.stringify(state);
}

/**
 * Merges the state of the store: of two counts of the same second, day or month the larger holds. Seats of gateways
 * that are gone do not count; the calling gateway's own count is authoritative for itself.
 */
export function absorbState(account: Account, text: string, isAlive: (gateway: string) => boolean): void {
  const { second, requests, tokens, day, month, seats }: AccountState = JSON.parse(text);
  account.advance(Math.max(second, account.requests.second));
  account.requests.absorb(second, requests);
  account.tokens.absorb(second, tokens);
  account.day.raise(...day);
  account.month.raise(...month);
  account.setSeatsElsewhere(Object.entries(seats).filter(([gateway]) => isAlive(gateway)));
}

/** Replaces the state by the store's; an account that is not in the store is new. */
export function readState(account: Account, text: string | undefined, isAlive: (gateway: string) => boolean): void {
  account.clear();
  if (text !== undefined) absorbState(account, text, isAlive);
}

function withoutLeadingNoughts(counts: readonly number[]): readonly number[] {
  const first = counts.findIndex((count) => count !== 0);
  return first === -1 ? [] : counts.slice(first);
}
