/** How a recorded request ended: with its whole response, too late, or in another way. */
export const OBSERVED_OUTCOMES = ['ok', 'timeout', 'incomplete'] as const;

export type ObservedOutcome = (typeof OBSERVED_OUTCOMES)[number];

/** Measurements of recorded requests, by row, to compare with a simulation. */
export interface Observed {
  /** Microseconds from the arrival until it was sent to a replica, until its first token, and until its end; NaN: never. */
  dispatchUs: Float64Array;
  ttftUs: Float64Array;
  e2eUs: Float64Array;
  /** Tokens of the prompt that were found in a cache; -1: not reported. */
  cachedTokens: Int32Array;
  /** Index into OBSERVED_OUTCOMES. */
  outcome: Uint8Array;
  /** The replicas that served the requests, where the recorder knows them. */
  served?: ServedBy;
  /** What only the sender of the requests can record. */
  sent?: SentFacts;
}

/** Which replica served each request: an index into `replicas`, -1 for none. */
export interface ServedBy {
  replicas: readonly string[];
  by: Int32Array;
  /** Endpoints of the gateway that the requests were for. */
  endpoints: readonly string[];
}

/** Whole numbers that a sender records for each request, with the columns of a TraceV2 that hold them. */
export const SENT_COLUMNS = {
  /** As counted by the server; -1: not reported. */
  serverInputTokens: 'server_input_tokens',
  serverOutputTokens: 'server_output_tokens',
  plannedInputTokens: 'planned_input_tokens',
  plannedOutputTokens: 'planned_output_tokens',
  /** Chunks of the response. */
  chunks: 'num_chunks',
  /** How late the sender was, how long the concurrency limit held the request, how long connecting took. */
  latenessUs: 'lateness_us',
  capWaitUs: 'cap_wait_us',
  connectUs: 'connect_us',
  /** The priority sent to the server: lower is more urgent. */
  priority: 'vllm_priority',
} as const;

export type SentColumn = keyof typeof SENT_COLUMNS;

export interface SentFacts extends Record<SentColumn, Float64Array> {
  /** The error of the response as a single word and as a message; empty without an error. */
  problem: readonly string[];
  message: readonly string[];
  finishReason: readonly string[];
  /** The request id that was sent to the server. */
  xRequestId: readonly string[];
}

export const SENT_TEXTS = ['problem', 'message', 'finishReason', 'xRequestId'] as const;

/** The same for some of the rows, in this order. */
export function selectObserved(observed: Observed, rows: Int32Array): Observed {
  const { cachedTokens, dispatchUs, e2eUs, outcome, sent, served, ttftUs } = observed;
  return {
    dispatchUs: picked(dispatchUs, rows),
    ttftUs: picked(ttftUs, rows),
    e2eUs: picked(e2eUs, rows),
    cachedTokens: Int32Array.from(rows, (row) => cachedTokens[row]!),
    outcome: Uint8Array.from(rows, (row) => outcome[row]!),
    ...(served === undefined ? {} : { served: { ...served, by: Int32Array.from(rows, (row) => served.by[row]!) } }),
    ...(sent === undefined ? {} : { sent: selectSent(sent, rows) }),
  };
}

function selectSent(sent: SentFacts, rows: Int32Array): SentFacts {
  const numbers = Object.keys(SENT_COLUMNS).map((name) => [name, picked(sent[name as SentColumn], rows)]);
  const texts = SENT_TEXTS.map((name) => [name, Array.from(rows, (row) => sent[name][row]!)]);
  return Object.fromEntries([...numbers, ...texts]) as SentFacts;
}

function picked(column: Float64Array, rows: Int32Array): Float64Array {
  return Float64Array.from(rows, (row) => column[row]!);
}
