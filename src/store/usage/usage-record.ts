/** The dimensions of usage. A day is UTC, written YYYY-MM-DD; an outcome is `ok` or the reason a request ended. */
export const USAGE_DIMENSIONS = ['key', 'model', 'endpoint', 'day', 'outcome'] as const;

export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageCounts {
  requests: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  /** Requests whose tokens the gateway estimated, because the engine did not report them. */
  estimatedRequests: number;
  costNanos: number;
  /** Spoken by the engine. */
  characters: number;
  /** Of transcribed and translated audio. */
  audioSeconds: number;
}

export interface UsageRow extends UsageCounts {
  keyId: string;
  model: string;
  endpoint: string;
  day: string;
  outcome: string;
}

export interface UsageQuery {
  readonly keyId?: string;
  readonly model?: string;
  readonly endpoint?: string;
  readonly outcome?: string;
  /** Only of keys of these workspaces, or of their endpoints. */
  readonly workspaces?: readonly string[];
  /** The first and the last day, both included. */
  readonly fromDay?: string;
  readonly toDay?: string;
  /** Dimensions of the result, in order; none for one total. */
  readonly by: readonly UsageDimension[];
}

/** A total, with the dimensions it was grouped by. */
export type UsageSum = UsageCounts & { readonly [Dimension in UsageDimension]?: string };

/** What counts against the budgets of a key: input and output tokens, including cached and reasoning tokens. */
export interface Spent {
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
  readonly costNanos: number;
}

/** The counts, in the order in which they are shown. */
export const USAGE_COUNTS = [
  'requests',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
  'estimatedRequests',
  'costNanos',
  'characters',
  'audioSeconds',
] as const satisfies readonly (keyof UsageCounts)[];
