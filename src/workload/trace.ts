import type { Observed } from './observed.js';
import type { RequestTable } from './request-table.js';

/** Thresholds of one SLO class; a dimension that is absent does not count. */
export interface TraceGoodputTarget {
  ttftUs?: number;
  itlUs?: number;
  e2eUs?: number;
}

/** The server that a trace was observed on, as far as known. */
export interface TraceServer {
  type?: string;
  version?: string;
  /** The publisher's name of the model, not the name in requests. */
  model?: string;
  hardware?: string;
  tensorParallel?: number;
  maxNumSeqs?: number;
  maxNumBatchedTokens?: number;
  blockSize?: number;
  totalKvBlocks?: number;
  gpuMemoryUtilization?: number;
  maxModelLen?: number;
}

/** The YAML file of a TraceV2; other formats have none. */
export interface TraceHeader {
  /** real: observed on a server, deadlines relative to the arrival; generated, replayed or absent: absolute. */
  mode: '' | 'real' | 'generated' | 'replayed';
  workloadSeed?: number;
  /**
   * Whether a session's prompt starts with its context so far. 'accumulate': only in a closed loop, and rows hold what
   * is new. 'included': it did when it was observed, and rows hold the whole length of their prompts.
   */
  sessionContextGrowth: string;
  goodputTargets: Record<string, TraceGoodputTarget>;
  /** Tokens of a block in the column `block_hashes`. */
  blockTokens?: number;
  /** Warm-up requests that were sent before those of an observed trace; absent for none. */
  warmUpRequests?: number;
  server?: TraceServer;
  /** Round trip to the server. */
  rttMs?: number;
  /** Requests that the client had in flight at most; absent: unknown, or no limit. */
  maxInFlight?: number;
  /** Why an observed trace is incomplete: it was interrupted, or requests were sent too late. */
  partial?: string;
  late?: string;
  /** The place of a top-level key, for errors found later: `trace.yaml:4:1 (mode)`. */
  place(key: string): string;
}

/** A trace as read: the table holds every record in file order and is complete for replay at the recorded times. */
export interface Trace {
  /** The format it was in, as the registry names it. */
  format: string;
  header: TraceHeader;
  table: RequestTable;
  /** When the request was due; `table.arrivalUs` is when it was sent. */
  wantedUs: Float64Array;
  /** Recorded pauses before each record; null when the trace has no such column. */
  thinkTimeUs: Float64Array | null;
  /** The records are not in order of arrival. */
  unsorted: boolean;
  /** The outcomes of the requests when they were recorded, where the recorder has them. */
  observed?: Observed;
  /** What was left out or estimated while reading, a sentence each: printed as warnings. */
  notes?: readonly string[];
  /** The place of a row's field: `trace.csv:14:7 (input_tokens)`. Only for errors: it may read the file again. */
  place(row: number, column: string): string;
}

/** Which requests of a trace to read; all where nothing is set. */
export interface TracePart {
  /** Only requests for this model. */
  model?: string;
  /** Only requests of this endpoint of a gateway. */
  endpoint?: string;
  /** Only requests whose response was complete. */
  answered?: boolean;
}
