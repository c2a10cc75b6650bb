import { Badge, type Tone } from './basics';

const GOOD = new Set(['Ready', 'Running', 'Active', 'Connected', 'Available']);
const BAD = new Set(['Failed', 'Error', 'Unreachable', 'Lost', 'Revoked']);
const BUSY = new Set(['Pending', 'Deploying', 'ModelDownloading', 'Deleting', 'Degraded', 'Expired']);

const toneOf = (phase: string): Tone =>
  GOOD.has(phase) ? 'good' : BAD.has(phase) ? 'bad' : BUSY.has(phase) ? 'warn' : 'idle';

/** The observed state of a resource. */
export function Phase({ phase }: { readonly phase: string | undefined }) {
  if (phase === undefined) return <span className="muted">–</span>;
  return <Badge tone={toneOf(phase)}>{phase}</Badge>;
}
