import type { CountedPage, Resource } from '../../api/types';

export interface KeyResource extends Resource {
  readonly spec: {
    readonly role?: string;
    readonly tenant?: string;
    readonly models?: readonly string[];
    readonly expires_at?: string;
    readonly limits?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
}

export type KeyList = CountedPage<KeyResource>;

export interface IssuedKey {
  readonly key: string;
}

/** The limits of a key as the API names them, with what they are called here. */
export const LIMITS = [
  ['requests_per_minute', 'Requests per minute'],
  ['tokens_per_minute', 'Tokens per minute'],
  ['concurrent', 'Requests at the same time'],
  ['tokens_per_day', 'Tokens per day, UTC'],
  ['tokens_per_month', 'Tokens per month, UTC'],
  ['dollars_per_day', 'Dollars per day, UTC'],
  ['dollars_per_month', 'Dollars per month, UTC'],
] as const;

export const limitName = (name: string) => LIMITS.find(([known]) => known === name)?.[1] ?? name.replaceAll('_', ' ');
