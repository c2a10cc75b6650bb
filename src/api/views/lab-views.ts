import * as v from 'valibot';
import { FLOW_CONTROL_SCHEMA } from '../../policy/bundle/flow-control-schema.js';
import {
  above,
  choice,
  field,
  listOf,
  number,
  pattern,
  required,
  section,
  text,
  time,
  whole,
} from '../../schema/fields.js';
import { LAB_LATENCY_MODELS, LAB_WORKLOADS } from '../../twin/lab/lab-choices.js';
import { LAB_LIMITS, LAB_REPLICAS, LAB_REQUESTS, LAB_SEEDS } from '../../twin/lab/lab-question.js';
import { described, naturalNumber, nullable, openMap, string } from './parts.js';

/** Bodies and responses of experiments. */

const UPLOAD_ID = pattern(/^[0-9a-f]{64}$/, 'the id of an upload', 64);
/** No value begins with a dash or holds a comma: each is one value of one flag. */
const NAME = pattern(/^[\w][\w./-]*$/, 'a name of the catalogue', 200);
const POLICY = pattern(
  /^[a-z][a-z0-9-]*(:[A-Za-z0-9_.:+=-]+)?$/,
  "a policy, also with options or scorers: 'chwbl:load_factor=1.5', 'weighted:queue-depth:1+kv-utilization:2'",
  400,
);
const RATE = above(0, 1_000_000);
const TP = whole(1, 64);

const TRAFFIC = section('LabTraffic', {
  workload: field(choice(LAB_WORKLOADS), { help: 'a preset of generated requests' }),
  upload: field(
    section('LabUploaded', {
      id: required(UPLOAD_ID, { help: 'id of the upload' }),
      format: required(choice(['trace', 'workload']), { help: 'a recorded trace, or a workload specification' }),
    }),
    { help: 'a file that was uploaded before' },
  ),
  recording: field(
    section('LabRecorded', {
      endpoint: required(text(63), { help: 'endpoint of the workspace whose recorded requests are replayed' }),
      from: field(time, { help: 'requests that arrived then or later; an hour before the end if absent' }),
      to: field(time, { help: 'requests that arrived before; now if absent' }),
    }),
    { help: 'what this gateway recorded' },
  ),
  rate: field(RATE, { help: 'generated requests per second' }),
  rates: field(listOf(RATE, 2, LAB_LIMITS.rates), {
    help: 'instead of rate: every policy is simulated at each, for a curve over the load',
  }),
  requests: field(whole(1, LAB_LIMITS.requests), { help: `generated requests; ${LAB_REQUESTS} if absent` }),
});

const KIND = section('LabReplicaKind', {
  hardware: required(NAME, { help: 'GPU' }),
  tp: field(TP, { help: 'GPUs of a replica; as usual for the model if absent' }),
  replicas: required(whole(1, LAB_LIMITS.replicas), { help: 'number of such replicas' }),
});

const PROFILE = section('LabFitted', {
  endpoint: required(text(63), { help: 'endpoint of the workspace' }),
  engine: field(text(63), { help: 'its engine; the first if absent' }),
});

const FLEET = section('LabFleet', {
  model: field(NAME, { help: 'model of the catalogue; that of the profile if absent' }),
  hardware: field(NAME, { help: 'GPU; the usual one of the model if absent' }),
  tp: field(TP, { help: 'GPUs of a replica; as usual for the model if absent' }),
  replicas: field(whole(1, LAB_LIMITS.replicas), { help: `number of replicas; ${LAB_REPLICAS} if absent` }),
  kinds: field(listOf(KIND, 1, LAB_LIMITS.kinds), {
    help: 'replicas that are not alike, instead of hardware, tp and replicas',
  }),
  profile: field(PROFILE, { help: 'step times as the gateway fitted them to an endpoint, instead of the catalogue' }),
  latency_model: field(choice(LAB_LATENCY_MODELS), { help: 'how long a step takes; physics if absent' }),
});

const ADMISSION = section('LabAdmission', {
  policy: required(text(63), { help: 'name of the admission policy' }),
  options: field(openMap, { default: {}, help: 'its options, by name' }),
});

export const LAB_BODY = section('LabQuestion', {
  traffic: required(TRAFFIC, { help: 'the requests: one of workload, upload and recording' }),
  fleet: required(FLEET, { help: 'what serves them' }),
  policies: required(listOf(POLICY, 1, LAB_LIMITS.policies), {
    help: 'routing policies to compare; the others are compared with the first. One is enough with several rates',
  }),
  admission: field(ADMISSION, { help: 'which requests are admitted; all if absent' }),
  flow_control: field(FLOW_CONTROL_SCHEMA, { help: 'queue before routing, as in a policy file; none if absent' }),
  seeds: field(whole(1, LAB_LIMITS.seeds), { help: `runs of each policy; ${LAB_SEEDS} if absent, 1 for a trace` }),
  slo_ttft_ms: field(above(0, 1e6), { help: 'longest time to first token that is good enough' }),
  signal_age_ms: field(number(0, 60_000), { help: 'age of the signals that replicas report; 0 if absent' }),
});

export const LAB_UPLOAD = section('LabUpload', {
  id: described(string, 'SHA-256 of the content, by which an experiment names it'),
  name: described(string, 'name of the file'),
  bytes: described(naturalNumber, 'its size'),
});

const LAB_MODEL = section('LabModel', {
  name: described(string, 'name of the model'),
  hardware: described(nullable(string), 'GPU that it is usually served with; null when unknown'),
  tp: described(nullable(naturalNumber), 'GPUs of a replica, as usual; null when unknown'),
});

const LAB_POLICY = section('LabPolicy', {
  name: described(string, 'name of the policy'),
  summary: described(string, 'what it does'),
  options: described(openMap, 'JSON Schema of its options'),
});

export const LAB_CHOICES = section('LabChoices', {
  workloads: described(v.array(string), 'presets of generated requests'),
  models: described(v.array(LAB_MODEL), 'models of the catalogue'),
  hardware: described(v.array(string), 'GPUs of the catalogue'),
  latency_models: described(v.array(string), 'how long a step takes can be estimated by'),
  policies: described(v.array(LAB_POLICY), 'routing policies with their options'),
  admission: described(v.array(LAB_POLICY), 'admission policies with the options that an experiment can set'),
  flow_control: described(openMap, 'JSON Schema of the queue before routing'),
  limits: described(
    section('LabLimits', {
      policies: described(naturalNumber, 'policies of an experiment'),
      rates: described(naturalNumber, 'rates of a curve'),
      kinds: described(naturalNumber, 'kinds of replicas'),
      seeds: described(naturalNumber, 'seeds'),
      replicas: described(naturalNumber, 'replicas'),
      requests: described(naturalNumber, 'requests of a run'),
      upload_bytes: described(naturalNumber, 'bytes of an upload'),
    }),
    'bounds of an experiment',
  ),
});

export const SAVE_BODY = section('SaveLabResult', {
  job: required(text(63), { help: 'id of an experiment that is done' }),
  name: required(text(120), { help: 'what to call it' }),
});

const saved = {
  id: described(string, 'id of the saved result'),
  name: described(string, 'its name'),
  workspace: described(string, 'its workspace'),
  saved_by: described(string, 'who saved it'),
  saved_at: described(string, 'when'),
  ran_at: described(string, 'when the experiment was created'),
  verdict: described(string, 'the finding in one sentence'),
  asked: described(openMap, 'the body of the request that created the experiment'),
  commands: described(v.array(string), 'commands that print the same document'),
};

export const SAVED_RESULT = section('SavedLabResult', saved);

export const SAVED_WITH_RESULT = section('SavedLabResultWithDocument', {
  ...saved,
  result: described(openMap, 'the result of the experiment'),
});
