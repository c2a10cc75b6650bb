import type { AnySection } from '../../schema/facts.js';
import { above, choice, field, flag, list, map, number, required, section, text, whole } from '../../schema/fields.js';
import { ARRIVAL_PROCESSES } from '../arrivals/registry.js';
import { MAX_ROUNDS, MAX_TOKENS, PAUSE } from '../lengths/limits.js';
import { LENGTH_DISTRIBUTIONS } from '../lengths/registry.js';
import { DEFAULT_PREFIX_TOKENS, LATEST_US, MAX_POPULATION, MAX_RATE, MAX_REQUESTS } from './limits.js';

const moment = whole(0, LATEST_US);
const rate = above(0, MAX_RATE);

export const ARRIVAL = section('arrival', {
  process: required(choice(ARRIVAL_PROCESSES.map(({ name }) => name)), {
    help: 'distribution of the gaps between arrivals',
  }),
  cv: field(above(0, 1000), { help: 'standard deviation of the gaps over their mean (gamma and weibull)' }),
  shape: field(above(0, 1e6), { help: 'shape of the distribution, with `scale` and instead of `cv` and the rate' }),
  scale: field(above(0, LATEST_US), { help: 'scale of the distribution in microseconds' }),
});

export const LENGTH = section('distribution', {
  type: required(choice(LENGTH_DISTRIBUTIONS.map(({ name }) => name)), { help: 'distribution of the lengths' }),
  params: field(map('parameters', number(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)), {
    help: 'its parameters by name; of an empirical one, the share of each length by length',
  }),
  file: field(text(), {
    help: 'for an empirical distribution: a CSV or JSON file of lengths, or of lengths with their shares; relative to the specification',
  }),
});

const length = (help: string, standard = '') => field(LENGTH, { defaultText: standard, help });

const MULTI_TURN = section('multi_turn', {
  max_rounds: required(whole(1, MAX_ROUNDS), { help: 'turns of a session' }),
  rounds_distribution: length(
    'turns of a session, drawn when it begins and cut at `max_rounds`',
    'always `max_rounds`',
  ),
  think_time_us: field(whole(0, PAUSE.most), { default: 0, help: 'pause between a response and the next turn' }),
  think_time_distribution: length('the pause drawn, in microseconds', 'always `think_time_us`'),
  input_distribution: length('fresh tokens of every turn but the first', "the client's"),
  context_growth: field(choice(['', 'accumulate']), {
    defaultText: "''",
    help: 'accumulate: a prompt starts with the whole session so far, which prefix caches reuse',
  }),
  single_session: field(flag, { default: false, help: 'one session for each client instead of one for each arrival' }),
  start_us: field(moment, {
    defaultText: 'the first arrival',
    help: 'when that one session begins; the client then has no rate',
  }),
});

const MULTIMODAL = section('multimodal', {
  text_distribution: length('text tokens', 'the `input_distribution`, if there is one'),
  image_distribution: length('tokens of an image', 'no images'),
  image_count_distribution: length('images of a prompt, 0 allowed', '1'),
  audio_distribution: length('tokens of an audio clip', 'no audio'),
  audio_count_distribution: length('audio clips of a prompt, 0 allowed', '1'),
  video_distribution: length('tokens of a video', 'no video'),
  video_count_distribution: length('videos of a prompt, 0 allowed', '1'),
});

/** What clients and cohorts have in common, in the order in which it is written. */
const TRAFFIC = {
  tenant_id: field(text(), { help: 'tenant its requests count for' }),
  slo_class: field(text(), { help: 'class of its requests: all clients name one, or none does' }),
  model: field(text(), { defaultText: 'any', help: 'only instances that serve exactly this model take its requests' }),
  adapter: field(text(), { help: 'refused: adapters are not simulated yet' }),
  rate_fraction: field(above(0, 1e9), {
    default: 1,
    help: 'its share of `aggregate_rate`, over the sum of all shares',
  }),
  arrival: field(ARRIVAL, { defaultText: 'poisson', help: 'when requests, or sessions, arrive' }),
  input_distribution: field(LENGTH, {
    help: 'prompt tokens without a shared prefix; required unless `multimodal` is given',
  }),
  output_distribution: required(LENGTH, { help: 'tokens of the response' }),
  prefix_group: field(text(), { help: 'prompts of one group start with the same tokens, for all clients' }),
  prefix_length: field(whole(1, MAX_TOKENS), { default: DEFAULT_PREFIX_TOKENS, help: 'tokens of that prefix' }),
  streaming: field(flag, { default: false, help: 'recorded in traces, not simulated' }),
  network: field(
    section('network', {
      rtt_ms: field(number(0, 1e6), { default: 0, help: 'round trip between client and cluster in milliseconds' }),
      bandwidth_mbps: field(above(0, 1e6), { defaultText: 'unlimited', help: 'megabits per second' }),
    }),
    { defaultText: 'no delay', help: 'network to the client: adds to client latency, not to what the server measures' },
  ),
  multimodal: field(MULTIMODAL, { help: 'prompts of more than text; their length is the sum of their parts' }),
  reasoning: field(
    section('reasoning', {
      reason_ratio_distribution: length('reasoning among the tokens of a response, in percent', '0'),
      multi_turn: field(MULTI_TURN, { defaultText: 'single requests', help: 'sessions of several turns' }),
    }),
    { help: 'reasoning and sessions' },
  ),
  timeout: field(whole(0, PAUSE.most), {
    defaultText: 'none; 300 s for sessions and `concurrency`',
    help: 'microseconds after which the client cancels; 0: never',
  }),
  slo_target_us: field(whole(1, PAUSE.most), { help: 'target of its requests for `--dispatch-order slo-deadline`' }),
  closed_loop: field(flag, {
    defaultText: 'true for sessions',
    help: 'a turn waits for the response to the one before; false: all turns come at times set in advance',
  }),
};

const WINDOWS = list(
  section('windows', {
    start_us: required(moment, { help: 'from this time' }),
    end_us: required(moment, { help: 'up to this one, exclusive' }),
    trace_rate: field(rate, {
      help: 'requests per second with an `aggregate_rate` of 0, else the share in place of `rate_fraction`',
    }),
    arrival: field(ARRIVAL, { defaultText: "the client's", help: 'in this window' }),
    input_distribution: length('in this window', "the client's"),
    output_distribution: length('in this window', "the client's"),
  }),
);

const id = required(text(), { help: 'unique name; also names its random numbers' });

const CLIENT = {
  id,
  concurrency: field(whole(1, 10_000_000), {
    help: 'users who each wait for a response before they send again, instead of a rate',
  }),
  think_time_us: field(whole(0, PAUSE.most), { default: 0, help: 'pause of such a user' }),
  ...TRAFFIC,
  lifecycle: field(
    section('lifecycle', { windows: required(WINDOWS, { help: 'in order of time, without overlap' }) }),
    { defaultText: 'always', help: 'when it is active' },
  ),
};

const COHORT = {
  id,
  population: required(whole(1, MAX_POPULATION), { help: 'number of members; they share the rate' }),
  ...TRAFFIC,
  prefix_sharing: field(choice(['shared', 'per_member']), {
    defaultText: 'shared',
    help: 'one prefix for all, or one of the same length for each',
  }),
  diurnal: field(
    section('diurnal', {
      peak_hour: required(whole(0, 23), { help: 'the hour that is active throughout' }),
      peak_to_trough_ratio: required(number(1, 1e6), { help: 'how much busier it is than twelve hours later' }),
    }),
    { help: 'a daily pattern: each hour begins with an active part, whose length follows a cosine' },
  ),
  spike: field(
    section('spike', {
      start_time_us: required(moment, { help: 'active from this time' }),
      duration_us: required(whole(1, LATEST_US), { help: 'duration' }),
      trace_rate: field(rate, { help: 'as in a window, of all members together' }),
    }),
    { help: 'active once' },
  ),
  drain: field(
    section('drain', {
      start_time_us: required(moment, { help: 'active all the time until this time' }),
      ramp_duration_us: required(whole(10, LATEST_US), { help: 'then less and less, in ten steps' }),
    }),
    { help: 'fades away' },
  ),
};

/** Every key of a specification: the top. */
export const SPEC: AnySection = section('', {
  version: field(choice(['2', '1', '']), { defaultText: "'1'", help: "'2'; older versions are accepted" }),
  seed: field(whole(0, Number.MAX_SAFE_INTEGER), {
    defaultText: '`--seed`',
    help: 'seed of its random numbers, unless `--seed` is given',
  }),
  category: field(choice(['', 'language', 'multimodal', 'reasoning']), {
    defaultText: "''",
    help: 'a label without effect',
  }),
  clients: field(list(section('clients', CLIENT)), { help: 'senders with individual settings' }),
  cohorts: field(list(section('cohorts', COHORT)), { help: 'many clients of one kind each' }),
  aggregate_rate: field(number(0, MAX_RATE), {
    default: 0,
    help: 'requests per second of all clients together (of sessions: sessions); 0: every window sets its own `trace_rate`',
  }),
  horizon: field(whole(1, LATEST_US), { defaultText: 'none', help: 'microseconds; nothing arrives later' }),
  num_requests: field(whole(1, MAX_REQUESTS), {
    defaultText: '100 if nothing else ends it',
    help: 'how many requests at most, turns of sessions included',
  }),
  servegen_data: field(section('servegen_data', { path: required(text(), { help: 'a folder' }) }), {
    help: 'refused: use the output of `twinyard convert servegen`',
  }),
  inference_perf: field(
    section('inference_perf', {
      stages: required(
        list(
          section('stages', {
            rate: required(rate, { help: 'requests per second' }),
            duration: required(above(0, 1e6), { help: 'seconds' }),
          }),
        ),
        { help: 'stages, run one after the other' },
      ),
      shared_prefix: required(
        section('shared_prefix', {
          num_unique_system_prompts: required(whole(1, MAX_POPULATION), { help: 'prefix groups' }),
          num_users_per_system_prompt: required(whole(1, MAX_POPULATION), { help: 'clients of each' }),
          system_prompt_len: required(whole(1, MAX_TOKENS), { help: 'tokens of each prefix' }),
          question_len: required(whole(1, MAX_TOKENS), { help: 'tokens after it' }),
          output_len: required(whole(1, MAX_TOKENS), { help: 'tokens of the response' }),
          enable_multi_turn_chat: field(flag, { default: false, help: 'every user holds one session in each stage' }),
        }),
        { help: 'users who share system prompts' },
      ),
    }),
    { help: 'a shared-prefix load as inference-perf describes it, instead of clients' },
  ),
  goodput_slo_targets: field(
    map(
      'SLO classes',
      section('goodput_slo_targets', {
        ttft_ms: field(above(0, 1e9), { help: 'longest time to first token' }),
        itl_ms: field(above(0, 1e9), { help: 'longest mean gap between tokens' }),
        e2e_ms: field(above(0, 1e9), { help: 'longest time to the last token' }),
      }),
    ),
    { help: 'goodput targets by SLO class; flags take precedence' },
  ),
});
