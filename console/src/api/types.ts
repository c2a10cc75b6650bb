/** What the API returns, as far as pages use it. The OpenAPI document of the server has all of it. */

export type Role = 'none' | 'viewer' | 'operator' | 'admin';

export interface Session {
  readonly name: string;
  readonly role: Role;
  readonly workspaces: Readonly<Record<string, Role>>;
  readonly csrf_token: string | null;
  readonly expires_at: string | null;
  readonly version: string;
  readonly gateway_url: string;
  readonly has_store: boolean;
  readonly has_control: boolean;
  /** Set by the console: the page stays as it is until its visitor has logged in again. */
  readonly has_ended?: true;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** A page of resources that was asked for with `count=true`. */
export interface CountedPage<Item> extends Page<Item> {
  /** How many there are on all pages, and whether there are even more. */
  readonly total: number;
  readonly is_more: boolean;
}

export interface Rates {
  readonly requests_per_s: number;
  readonly errors_per_s: number;
  readonly refused_per_s: number;
  readonly input_tokens_per_s: number;
  readonly cached_tokens_per_s: number;
  readonly output_tokens_per_s: number;
  readonly ttft_p50_ms: number | null;
  readonly ttft_p95_ms: number | null;
  readonly in_flight: number;
  readonly queued: number;
  readonly replicas: number;
  readonly ready: number;
  readonly kv_used: number | null;
}

export interface EndpointTraffic extends Rates {
  readonly workspace: string;
  readonly name: string;
}

export interface Series {
  readonly at: string;
  readonly step_s: number;
  readonly requests_per_s: readonly number[];
  readonly errors_per_s: readonly number[];
  readonly output_tokens_per_s: readonly number[];
  readonly ttft_p50_ms: readonly (number | null)[];
  readonly ttft_p95_ms: readonly (number | null)[];
}

export interface Traffic {
  readonly items: readonly EndpointTraffic[];
  readonly total: Rates;
  readonly series: Series;
}

export interface Signals {
  readonly running: number | null;
  readonly waiting: number | null;
  readonly kvUsed: number | null;
  readonly cacheHitRate: number | null;
}

export interface Replica {
  readonly workspace: string;
  readonly endpoint: string;
  readonly id: string;
  readonly url: string;
  readonly engine: string;
  readonly state: 'starting' | 'ready' | 'unhealthy' | 'draining';
  readonly problem: string;
  readonly leaving: boolean;
  readonly breaker: 'open' | 'closed';
  readonly suspect: string;
  readonly models: readonly string[];
  readonly in_flight: number;
  readonly active: number;
  readonly signals: Signals | null;
}

export interface LiveEndpoint {
  readonly workspace: string;
  readonly name: string;
  readonly source: 'file' | 'control-plane';
  readonly models: readonly string[];
  readonly policy: Readonly<Record<string, unknown>> & {
    readonly routing?: { readonly policy?: string; readonly options?: Readonly<Record<string, unknown>> };
  };
  readonly policy_hash: string;
  readonly in_flight: number;
  readonly queued: Readonly<Record<string, number>>;
  readonly replicas: readonly string[];
  readonly warnings?: readonly string[];
}

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly workspace?: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly resource_version?: number;
    readonly created_at?: string;
    readonly updated_at?: string;
    readonly deleted_at?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly phase?: string;
    readonly message?: string;
    readonly observed_generation?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

export interface ResourceEvent {
  readonly id: number;
  readonly kind: string;
  readonly workspace?: string;
  readonly name: string;
  readonly type: 'normal' | 'warning';
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
}

export interface PastRequest {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly model: string;
  readonly key: string | null;
  readonly class: string;
  readonly replica: string | null;
  readonly policy: string | null;
  readonly status: number;
  readonly outcome: string;
  readonly cause: string | null;
  readonly attempts: number;
  readonly failed_attempts: readonly {
    readonly replica: string;
    readonly start_ms: number;
    readonly end_ms: number;
    readonly cause: string;
  }[];
  readonly streamed: boolean;
  readonly at: string;
  readonly queue_ms: number | null;
  readonly dispatch_ms: number | null;
  readonly ttft_ms: number | null;
  readonly duration_ms: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
}
