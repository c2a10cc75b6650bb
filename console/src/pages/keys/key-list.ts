import type { Page, Resource } from '../../api/types';

export interface KeyResource extends Resource {
  readonly spec: {
    readonly role?: string;
    readonly tenant?: string;
    readonly models?: readonly string[];
    readonly expires_at?: string;
    readonly limits?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
}

export type KeyList = Page<KeyResource>;

export interface IssuedKey {
  readonly key: string;
}
