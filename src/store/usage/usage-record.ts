/** What usage is counted by. A day is UTC, written YYYY-MM-DD; an outcome is `ok` or the cause of the end. */
export const USAGE_DIMENSIONS = ['key', 'model', 'endpoint', 'day', 'outcome'] as const;

export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageCounts {
  requests: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  /** Requests whose tokens the gateway had to estimate, because the engine did not say. */
  estimatedRequests: number;
  costNanos: number;
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
  /** The first and the last day, both included. */
  readonly fromDay?: string;
  readonly toDay?: string;
  /** What rows are told apart by, in the order of the result; none for one sum. */
  readonly by: readonly UsageDimension[];
}

/** A sum, with the dimensions it was asked for by. */
export type UsageSum = UsageCounts & { readonly [Dimension in UsageDimension]?: string };

/** What counts against the budgets of a key: input and output tokens, cached and reasoning ones among them. */
export interface Spent {
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
  readonly costNanos: number;
}

/** What is counted, in the order in which it is shown. */
export const USAGE_COUNTS = [
  'requests',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
  'estimatedRequests',
  'costNanos',
] as const satisfies readonly (keyof UsageCounts)[];
