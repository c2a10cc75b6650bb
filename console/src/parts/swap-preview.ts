import { useState } from 'react';
import { ApiFailure, call } from '../api/client';
import type { Change } from '../api/queries';
import type { LiveEndpoint, Resource } from '../api/types';
import { type Difference, differencesOf } from './differences';

export interface WantedPolicy {
  /** The path of the endpoint in the API. */
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  /** Null while none is chosen. */
  readonly policy: string | null;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A swap as it was previewed: it is made as it is, and only where nothing else was changed since. */
export interface PlannedSwap {
  readonly differences: readonly Difference[];
  /** How requests are routed after it. */
  readonly routing: Readonly<Record<string, unknown>>;
  readonly headers: { readonly 'if-match': string };
  readonly swap: Change;
}

type Routing = Readonly<Record<string, unknown>>;

/** How prompts are read and remembered: no part of the choice of a policy. */
const kept = ({ block_size, cache_blocks }: Routing): Routing => ({
  ...(block_size === undefined ? {} : { block_size }),
  ...(cache_blocks === undefined ? {} : { cache_blocks }),
});

/** Asks the gateway what a swap would change. */
async function planned({ base, endpoint, options = {}, policy }: WantedPolicy): Promise<PlannedSwap> {
  const present = (endpoint.policy.routing ?? {}) as Routing;
  if (endpoint.source === 'file') {
    const routing = { policy, options, ...kept(present) };
    const headers = { 'if-match': `"${endpoint.policy_hash}"` };
    const after = await call<LiveEndpoint>('PUT', `${base}/policy?dry_run=true`, { body: routing, headers });
    const swap: Change = { method: 'PUT', path: `${base}/policy`, body: routing, headers };
    return { differences: differencesOf(endpoint.policy, after.policy), routing, headers, swap };
  }
  const { metadata, spec } = await call<Resource>('GET', base);
  const own = (spec.routing ?? {}) as Routing;
  const routing = { policy, ...(Object.keys(options).length === 0 ? {} : { options }), ...kept(own) };
  const headers = { 'if-match': `"${metadata.resource_version}"` };
  const content = JSON.stringify([{ op: 'add', path: '/spec/routing', value: routing }]);
  const text = { content, type: 'application/json-patch+json' };
  const after = await call<Resource>('PATCH', `${base}?dry_run=true`, { text, headers });
  // Keys that a resource leaves out have the values that are served.
  const next = { options: {}, ...kept(present), ...(after.spec.routing as Routing) };
  const differences = differencesOf(endpoint.policy, { ...endpoint.policy, routing: next });
  return { differences, routing, headers, swap: { method: 'PATCH', path: base, text, headers } };
}

/** What a swap of the routing policy would change, by a dry run. */
export function useSwapPreview(wanted: WantedPolicy) {
  const [plan, setPlan] = useState<PlannedSwap | null>(null);
  const [error, setError] = useState<ApiFailure | null>(null);
  const [isPending, setPending] = useState(false);
  return {
    /** Null while nothing is previewed. */
    plan,
    error,
    isPending,
    close: () => setPlan(null),
    async show() {
      setPending(true);
      setError(null);
      try {
        setPlan(await planned(wanted));
      } catch (failure) {
        if (!(failure instanceof ApiFailure)) throw failure;
        setError(failure);
      } finally {
        setPending(false);
      }
    },
  };
}
