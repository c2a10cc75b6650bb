/** The measurements of one request. Times are microseconds, NaN where the event did not happen. */
export interface MeasuredRequest {
  /** The number in `request_<id>`. */
  id: number;
  /** On the trace's own clock. */
  sentUs: number;
  /** From the sending, as the client saw it. */
  ttftUs: number;
  e2eUs: number;
  /** The server's count of the prompt, else the trace's `input_tokens`, which leave out a shared prefix. */
  countedInputTokens: number;
  /** The whole prompt as `replay` reads it. */
  inputTokens: number;
  outputTokens: number;
  /** Prompt tokens found in a cache; -1 where not reported. */
  cachedTokens: number;
  sloClass: string;
  /** The response was streamed: its first chunk has a meaningful time. */
  streamed: boolean;
  /** The response was complete. */
  completed: boolean;
  /** It was not, because the client gave up. */
  timedOut: boolean;
}

/** The prediction for one request, on the side of the server. NaN: it did not get that far. */
export interface PredictedRequest {
  /** The number in `request_<id>`; -1 for a request that the simulation created. */
  id: number;
  ttftUs: number;
  e2eUs: number;
  inputTokens: number;
  outputTokens: number;
  /** As results name it; null where they do not. */
  status: string | null;
  /** The simulated client had a cap on requests in flight. */
  isCapped: boolean;
}
