/** The last arrival (about 30 years on): later events still fit a clock of exact microseconds. */
export const LATEST_US = 1e15;
export const MAX_REQUESTS = 100_000_000;
export const MAX_RATE = 1_000_000;
export const MAX_POPULATION = 100_000;
/** Members of all cohorts together. */
export const MAX_CLIENTS = 1_000_000;
export const DEFAULT_PREFIX_TOKENS = 50;
/** How long a session or a waiting user waits for a response unless set. */
export const CHAT_TIMEOUT_US = 300_000_000;
