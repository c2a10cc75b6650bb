import * as v from 'valibot';
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
import { LAB_WORKLOADS } from '../../twin/lab/lab-choices.js';
import { LAB_LIMITS, LAB_REQUESTS, LAB_SEEDS } from '../../twin/lab/lab-question.js';
import { described, naturalNumber, nullable, string } from './parts.js';

/** Bodies and responses of experiments. */

const UPLOAD_ID = pattern(/^[0-9a-f]{64}$/, 'the id of an upload', 64);
/** No value begins with a dash or holds a comma: each is one value of one flag. */
const NAME = pattern(/^[\w][\w./-]*$/, 'a name of the catalogue', 200);
const POLICY = pattern(
  /^[a-z][a-z0-9-]*(:[a-z0-9.:+-]+)?$/,
  "a policy, or 'weighted:queue-depth:1+kv-utilization:2'",
  400,
);

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
  rate: field(above(0, 1_000_000), { help: 'generated requests per second' }),
  requests: field(whole(1, LAB_LIMITS.requests), { help: `generated requests; ${LAB_REQUESTS} if absent` }),
});

const FLEET = section('LabFleet', {
  model: required(NAME, { help: 'model of the catalogue' }),
  hardware: field(NAME, { help: 'GPU; the usual one of the model if absent' }),
  tp: field(whole(1, 64), { help: 'GPUs of a replica; as usual for the model if absent' }),
  replicas: field(whole(1, LAB_LIMITS.replicas), { default: 4, help: 'number of replicas' }),
});

export const LAB_BODY = section('LabQuestion', {
  traffic: required(TRAFFIC, { help: 'the requests: one of workload, upload and recording' }),
  fleet: required(FLEET, { help: 'what serves them' }),
  policies: required(listOf(POLICY, 2, LAB_LIMITS.policies), {
    help: 'routing policies to compare; the others are compared with the first',
  }),
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

export const LAB_CHOICES = section('LabChoices', {
  workloads: described(v.array(string), 'presets of generated requests'),
  models: described(v.array(LAB_MODEL), 'models of the catalogue'),
  hardware: described(v.array(string), 'GPUs of the catalogue'),
  limits: described(
    section('LabLimits', {
      policies: described(naturalNumber, 'policies of an experiment'),
      seeds: described(naturalNumber, 'seeds'),
      replicas: described(naturalNumber, 'replicas'),
      requests: described(naturalNumber, 'requests of a run'),
      upload_bytes: described(naturalNumber, 'bytes of an upload'),
    }),
    'bounds of an experiment',
  ),
});
