import type { ErrorStats, PredictionMetric } from '../../gateway/prediction/error-window.js';
import type { ProfileErrors } from '../../gateway/prediction/profile-book.js';
import { InputError } from '../../kernel/errors.js';
import type { ApiClient } from '../api/api-client.js';

/** A latency profile as the API returns it. */
export interface ShownProfile {
  readonly workspace: string;
  readonly endpoint: string;
  readonly engine: string;
  readonly source: 'fitted' | 'given' | null;
  readonly used: boolean;
  readonly pinned: boolean;
  readonly age_s: number | null;
  readonly score: ProfileErrors | null;
  readonly errors: Readonly<Record<PredictionMetric, ErrorStats | null>>;
  readonly samples: number;
  readonly drift: { readonly reason: string; readonly message: string; readonly since_s: number } | null;
  readonly assumes: readonly string[];
  readonly problem: string;
}

export interface ShownProfileFile extends ShownProfile {
  readonly profile: Readonly<Record<string, unknown>> | null;
}

/** The operands of commands on one profile. */
export const PROFILE_OPERANDS = { usage: 'ENDPOINT [ENGINE]', least: 1, most: 2 };

/** The path of the profile that the operands name; an endpoint with one engine needs no name of it. */
export async function profilePath(client: ApiClient, workspace: string, operands: readonly string[]): Promise<string> {
  const [endpoint, given] = operands as [string, string?];
  const path = (engine: string) =>
    `/api/v1/workspaces/${encodeURIComponent(workspace)}/endpoints/${encodeURIComponent(endpoint)}/profiles/${encodeURIComponent(engine)}`;
  if (given !== undefined) return path(given);
  const { items } = await client.list<ShownProfile>('/api/v1/profiles', { query: { workspace, endpoint } });
  if (items.length === 1) return path(items[0]!.engine);
  const known = items.map(({ engine }) => engine);
  throw new InputError(
    'PROFILE_WHICH',
    `endpoint '${endpoint}'`,
    items.length === 0 ? `has no latency profile in workspace '${workspace}'` : `has ${items.length} engines`,
    items.length === 0 ? "'twinyard profiles list' shows those that exist" : `name one of ${known.join(', ')}`,
  );
}

export function errorShare(share: number | undefined): string {
  return share === undefined ? '-' : `${(100 * share).toFixed(1)} %`;
}
