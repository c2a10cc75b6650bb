/** What was measured of one request. Times are microseconds, NaN where the moment never came. */
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
  /** Of the prompt, found in a cache; -1 where nobody said. */
  cachedTokens: number;
  sloClass: string;
  /** The answer came in pieces: its first one says something. */
  streamed: boolean;
  /** The answer came whole. */
  completed: boolean;
}

/** What a simulation says of one request, on the side of the server. NaN: it never got that far. */
export interface PredictedRequest {
  /** The number in `request_<id>`; -1 for a request that the simulation made itself. */
  id: number;
  ttftUs: number;
  e2eUs: number;
  inputTokens: number;
  outputTokens: number;
}
