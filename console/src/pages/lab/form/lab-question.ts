import { policyWord, readPolicy } from '../../../parts/policy-options';
import type { LabSearch } from '../../../shell/router';

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
  policies
    .split(',')
    .filter((one) => one !== '' && one !== NO_POLICY)
    .map((one) => policyWord(readPolicy(one)));

/** Rates with commas between them. */
export const ratesOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map(Number);

/** A kind of replica: `2*H100`, `4*L4:2`. */
export interface ReplicaKind {
  readonly replicas: string;
  readonly hardware: string;
  readonly tp: string;
}

export const readKinds = (text: string): ReplicaKind[] =>
  text.split(',').map((one) => {
    const [, replicas = '', hardware = '', tp = ''] = /^(\d*)\*?([^:]*)(?::(\d*))?$/.exec(one) ?? [];
    return { replicas, hardware, tp };
  });

export const kindsText = (kinds: readonly ReplicaKind[]) =>
  kinds.map(({ hardware, replicas, tp }) => `${replicas}*${hardware}${tp === '' ? '' : `:${tp}`}`).join(',');

/** A queue with the usual settings. */
export const QUEUE = 'queue';

const numeric = (text: string | undefined) => (text === undefined || text === '' ? undefined : Number(text));

/** The body of the request that a page with this address sends. @param nowMs a recording of the last hour ends now */
export function bodyOf(search: LabSearch, nowMs: number): object {
  const form = formOf(search);
  const admission = form.admission === undefined ? undefined : readPolicy(form.admission);
  return {
    traffic: trafficOf(form, nowMs),
    fleet: fleetOf(form),
    policies: policiesOf(form),
    ...(admission === undefined ? {} : { admission: { policy: admission.name, options: admission.options } }),
    ...(form.queue === undefined ? {} : { flow_control: readPolicy(form.queue).options }),
    seeds: numeric(form.seeds),
    slo_ttft_ms: numeric(form.slo),
    signal_age_ms: numeric(form.age),
  };
}

function fleetOf(form: LabForm): object {
  const steps = { latency_model: form.steps };
  if (form.profile !== undefined) {
    const { endpoint, engine } = readProfile(form.profile);
    return { profile: { endpoint, engine }, replicas: numeric(form.replicas) };
  }
  if (form.kinds === undefined)
    return {
      ...{ model: form.model, hardware: form.hardware, tp: numeric(form.tp) },
      ...{ replicas: numeric(form.replicas), ...steps },
    };
  const kinds = readKinds(form.kinds).map(({ hardware, replicas, tp }) => ({
    ...{ hardware, tp: numeric(tp), replicas: numeric(replicas) },
  }));
  return { model: form.model, kinds, ...steps };
}

/** `chat vllm@H100`: an endpoint and its engine. */
export function readProfile(text: string): { endpoint: string; engine: string | undefined } {
  const [endpoint, engine] = text.split(' ');
  return { endpoint: endpoint!, engine };
}

function trafficOf(form: LabForm, nowMs: number): object {
  const rates = ratesOf(form.rate);
  const generated = { ...(rates.length > 1 ? { rates } : { rate: rates[0] }), requests: numeric(form.requests) };
  if (form.source === 'upload') {
    const format = form.format === 'workload' ? 'workload' : 'trace';
    return { upload: { id: form.upload, format }, ...generated };
  }
  if (form.source !== 'recording') return { workload: form.workload, ...generated };
  const from = form.from ?? new Date(nowMs - Number(form.last ?? LAST_MINUTES[0]) * 60_000).toISOString();
  return { recording: { endpoint: form.endpoint, from, to: form.to ?? new Date(nowMs).toISOString() } };
}

export const LAST_MINUTES = ['60', '15', '360', '1440'] as const;

/** The question of an address in one text: the same for each way to write it. */
const textOf = (search: LabSearch) => {
  const entries = Object.entries(formOf(searchOf(bodyOf(search, 0)))).filter(([, value]) => value !== undefined);
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Whether an address has the experiment that was run. A time up to now is another one by now. */
export const isSameExperiment = (search: LabSearch, asked: Asked): boolean =>
  textOf(search) === textOf(searchOf(asked));

/** What an experiment has besides its routing policies and its fleet, in words: a swap of the policy leaves it as it is. */
export const besidesRouting = ({ admission, flow_control: queue }: Asked): string[] => [
  ...(admission === undefined
    ? []
    : [`admission ${policyWord({ name: admission.policy, options: admission.options })}`]),
  ...(queue === undefined ? [] : ['the queue before routing']),
];

interface Asked {
  readonly traffic?: {
    readonly workload?: string;
    readonly upload?: { readonly id: string; readonly format: string };
    readonly recording?: { readonly endpoint: string; readonly from: string; readonly to: string };
    readonly rate?: number;
    readonly rates?: readonly number[];
    readonly requests?: number;
  };
  readonly fleet?: {
    readonly model?: string;
    readonly hardware?: string;
    readonly tp?: number;
    readonly replicas?: number;
    readonly kinds?: readonly { readonly hardware: string; readonly tp?: number; readonly replicas: number }[];
    readonly latency_model?: string;
    readonly profile?: { readonly endpoint: string; readonly engine?: string };
  };
  readonly policies?: readonly string[];
  readonly admission?: { readonly policy: string; readonly options: Readonly<Record<string, unknown>> };
  readonly flow_control?: Readonly<Record<string, unknown>>;
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
    ...{ rate: traffic?.rates?.join(',') ?? text(traffic?.rate), requests: text(traffic?.requests) },
    ...{ upload: upload?.id, format: upload?.format === 'workload' ? 'workload' : undefined, file },
    ...{ endpoint: recording?.endpoint, from: recording?.from, to: recording?.to },
    ...{ model: fleet?.model, hardware: fleet?.hardware, tp: text(fleet?.tp), replicas: text(fleet?.replicas) },
    kinds: fleet?.kinds === undefined ? undefined : kindsText(fleet.kinds.map(asTexts)),
    profile: fleet?.profile === undefined ? undefined : profileText(fleet.profile),
    steps: fleet?.latency_model,
    policies: asked.policies?.join(','),
    admission:
      asked.admission === undefined
        ? undefined
        : policyWord({ name: asked.admission.policy, options: asked.admission.options }),
    queue: asked.flow_control === undefined ? undefined : policyWord({ name: QUEUE, options: asked.flow_control }),
    ...{ seeds: text(asked.seeds), slo: text(asked.slo_ttft_ms), age: text(asked.signal_age_ms) },
  };
}

const asTexts = ({ hardware, replicas, tp }: { hardware: string; replicas: number; tp?: number }): ReplicaKind => ({
  ...{ hardware, replicas: String(replicas), tp: tp === undefined ? '' : String(tp) },
});

export const profileText = ({ endpoint, engine }: { endpoint: string; engine?: string }) =>
  engine === undefined ? endpoint : `${endpoint} ${engine}`;

/** An experiment in a line. */
export function inWords({ admission, fleet, flow_control: queue, policies = [], traffic }: Asked): string {
  const source =
    traffic?.workload ?? (traffic?.recording === undefined ? 'upload' : `recording of ${traffic.recording.endpoint}`);
  const rates = traffic?.rates?.join(', ') ?? traffic?.rate;
  const rate = rates === undefined ? '' : ` at ${rates}/s`;
  const kinds = fleet?.kinds?.map(({ hardware, replicas }) => `${replicas} ${hardware}`).join(' + ');
  const model = fleet?.model ?? (fleet?.profile === undefined ? '' : `replicas as ${fleet.profile.endpoint} has`);
  const held = [admission?.policy, queue === undefined ? undefined : 'a queue'].filter((one) => one !== undefined);
  return `${policies.join(', ')} on ${source}${rate}, ${kinds ?? fleet?.replicas} × ${model}${held.map((one) => `, ${one}`).join('')}`;
}
