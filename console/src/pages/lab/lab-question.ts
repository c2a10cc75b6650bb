import type { LabSearch } from '../../shell/router';

/** An experiment that runs at once and shows a difference: what the page proposes where its address says nothing. */
const STANDARD = {
  workload: 'rag',
  rate: '30',
  requests: '1000',
  model: 'qwen/qwen3-14b',
  replicas: '4',
  policies: 'round-robin,least-loaded,lmetric',
  seeds: '3',
} as const;

export type LabForm = LabSearch & { readonly [Name in keyof typeof STANDARD]: string };

/** The address with what it leaves open. A trace has requests and seeds of its own. */
export function formOf(search: LabSearch): LabForm {
  const given = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
  return { ...STANDARD, ...given, ...(isTrace(search) ? { rate: '', requests: '', seeds: search.seeds ?? '' } : {}) };
}

export const isTrace = ({ format, source }: LabSearch) =>
  source === 'recording' || (source === 'upload' && format !== 'workload');

/** In the address where none is chosen: an address without policies has the usual ones. */
export const NO_POLICY = 'none';

export const policiesOf = ({ policies }: Pick<LabForm, 'policies'>) =>
  policies.split(',').filter((one) => one !== '' && one !== NO_POLICY);

const numeric = (text: string | undefined) => (text === undefined || text === '' ? undefined : Number(text));

/** The body of the request that a page with this address sends. @param nowMs a recording of the last hour ends now */
export function bodyOf(search: LabSearch, nowMs: number): object {
  const form = formOf(search);
  return {
    traffic: trafficOf(form, nowMs),
    fleet: {
      model: form.model,
      ...(form.hardware === undefined ? {} : { hardware: form.hardware }),
      tp: numeric(form.tp),
      replicas: numeric(form.replicas),
    },
    policies: policiesOf(form),
    seeds: numeric(form.seeds),
    slo_ttft_ms: numeric(form.slo),
    signal_age_ms: numeric(form.age),
  };
}

function trafficOf(form: LabForm, nowMs: number): object {
  const generated = { rate: numeric(form.rate), requests: numeric(form.requests) };
  if (form.source === 'upload') {
    const format = form.format === 'workload' ? 'workload' : 'trace';
    return { upload: { id: form.upload, format }, ...generated };
  }
  if (form.source !== 'recording') return { workload: form.workload, ...generated };
  const from = form.from ?? new Date(nowMs - Number(form.last ?? LAST_MINUTES[0]) * 60_000).toISOString();
  return { recording: { endpoint: form.endpoint, from, to: form.to ?? new Date(nowMs).toISOString() } };
}

export const LAST_MINUTES = ['60', '15', '360', '1440'] as const;

interface Asked {
  readonly traffic?: {
    readonly workload?: string;
    readonly upload?: { readonly id: string; readonly format: string };
    readonly recording?: { readonly endpoint: string; readonly from: string; readonly to: string };
    readonly rate?: number;
    readonly requests?: number;
  };
  readonly fleet?: {
    readonly model: string;
    readonly hardware?: string;
    readonly tp?: number;
    readonly replicas: number;
  };
  readonly policies?: readonly string[];
  readonly seeds?: number;
  readonly slo_ttft_ms?: number;
  readonly signal_age_ms?: number;
}

/** The address of this page for an experiment that was run. */
export function searchOf(asked: Asked, file?: string): LabSearch {
  const text = (value: unknown) => (value === undefined ? undefined : String(value));
  const { fleet, traffic } = asked;
  const { recording, upload } = traffic ?? {};
  return {
    source: upload !== undefined ? 'upload' : recording !== undefined ? 'recording' : undefined,
    workload: traffic?.workload,
    ...{ rate: text(traffic?.rate), requests: text(traffic?.requests) },
    ...{ upload: upload?.id, format: upload?.format === 'workload' ? 'workload' : undefined, file },
    ...{ endpoint: recording?.endpoint, from: recording?.from, to: recording?.to },
    ...{ model: fleet?.model, hardware: fleet?.hardware, tp: text(fleet?.tp), replicas: text(fleet?.replicas) },
    policies: asked.policies?.join(','),
    ...{ seeds: text(asked.seeds), slo: text(asked.slo_ttft_ms), age: text(asked.signal_age_ms) },
  };
}

/** An experiment in a line. */
export function inWords({ fleet, policies = [], traffic }: Asked): string {
  const source =
    traffic?.workload ?? (traffic?.recording === undefined ? 'upload' : `recording of ${traffic.recording.endpoint}`);
  const rate = traffic?.rate === undefined ? '' : ` at ${traffic.rate}/s`;
  return `${policies.join(', ')} on ${source}${rate}, ${fleet?.replicas} × ${fleet?.model}`;
}
