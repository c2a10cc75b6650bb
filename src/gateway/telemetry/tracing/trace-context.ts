/** The place of a request in its trace. All ids are lower-case hex. */
export interface TraceContext {
  readonly traceId: string;
  /** Of the request's own span. */
  readonly spanId: string;
  /** The caller's; empty where the trace begins here. */
  readonly parentSpanId: string;
  /** The caller's `tracestate`; empty without a valid one. It is passed to the replica unchanged. */
  readonly traceState: string;
  /** The `traceparent` for the replica, with the request's span as the parent. */
  readonly traceParentForUpstream: string;
}

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

export const SAMPLED = 1;
/** The trace id is random in the part that samplers use. */
const RANDOM = 2;

const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
/** Of version 00; later versions may have more fields. */
const LENGTH = 55;

/** Reads W3C's `traceparent`, of this version or a later one; null when it is invalid. */
export function readTraceParent(header: string): TraceParent | null {
  if (!TRACE_PARENT.test(header) || (header.length > LENGTH && header.startsWith('00'))) return null;
  return {
    traceId: header.slice(3, 35),
    spanId: header.slice(36, 52),
    flags: Number.parseInt(header.slice(53, 55), 16),
  };
}

/** For a trace that is sampled. Unknown flags are not passed on. */
export function traceParentText(traceId: string, spanId: string, flags: number): string {
  return `00-${traceId}-${spanId}-0${(flags & RANDOM) | SAMPLED}`;
}

const MOST_CHARACTERS = 512;
const MOST_MEMBERS = 32;
const MEMBER = /^[a-z\d][a-z\d_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** A `tracestate` that may be passed on; empty when it is invalid. */
export function readTraceState(header: string): string {
  if (header.length > MOST_CHARACTERS) return '';
  const members = header.split(',').map((member) => member.trim());
  if (members.length > MOST_MEMBERS) return '';
  return members.every((member) => member === '' || MEMBER.test(member)) ? header : '';
}
