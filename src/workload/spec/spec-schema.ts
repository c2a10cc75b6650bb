import { above, flag, type Key, type Keys, type Kind, number, text, whole } from '../../kernel/yaml/schema.js';
import { ARRIVAL_PROCESSES } from '../arrivals/registry.js';
import { MAX_ROUNDS, MAX_TOKENS, PAUSE } from '../lengths/limits.js';
import { LENGTH_DISTRIBUTIONS } from '../lengths/registry.js';
import { DEFAULT_PREFIX_TOKENS, LATEST_US, MAX_POPULATION, MAX_RATE, MAX_REQUESTS } from './limits.js';

const moment = whole(0, LATEST_US);
const rate = above(0, MAX_RATE);
const keys = (title: string, of: Keys): Extract<Kind, { type: 'keys' }> => ({ type: 'keys', title, keys: of });
const list = (title: string, of: Keys): Kind => ({ type: 'list', of: keys(title, of) });

export const ARRIVAL = keys('arrival', {
  process: {
    kind: text(ARRIVAL_PROCESSES.map(({ name }) => name)),
    needed: true,
    help: 'the law of the gaps between arrivals',
  },
  cv: { kind: above(0, 1000), help: 'standard deviation of the gaps over their mean (gamma and weibull)' },
  shape: { kind: above(0, 1e6), help: 'shape of the law, with `scale` and instead of `cv` and the rate' },
  scale: { kind: above(0, LATEST_US), help: 'scale of the law in microseconds' },
});

export const LENGTH = keys('distribution', {
  type: { kind: text(LENGTH_DISTRIBUTIONS.map(({ name }) => name)), needed: true, help: 'the law of the lengths' },
  params: {
    kind: { type: 'each', name: 'parameters', of: number(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY) },
    help: 'its parameters by name; of an empirical one, the share of each length by length',
  },
  file: {
    kind: text(),
    help: 'of an empirical one: a CSV or JSON file of lengths, or of lengths with their shares; beside the specification',
  },
});

const length = (help: string, standard = ''): Key => ({ kind: LENGTH, default: standard, help });

const MULTI_TURN = keys('multi_turn', {
  max_rounds: { kind: whole(1, MAX_ROUNDS), needed: true, help: 'turns of a chat' },
  rounds_distribution: length('turns of a chat, drawn when it begins and cut at `max_rounds`', 'always `max_rounds`'),
  think_time_us: { kind: whole(0, PAUSE.most), default: '0', help: 'pause between an answer and the next turn' },
  think_time_distribution: length('the pause drawn, in microseconds', 'always `think_time_us`'),
  input_distribution: length('fresh tokens of every turn but the first', "the client's"),
  context_growth: {
    kind: text(['', 'accumulate']),
    default: "''",
    help: 'accumulate: a prompt starts with the whole chat so far, that is what prefix caches live on',
  },
  single_session: { kind: flag, default: 'false', help: 'one chat for each client instead of one for each arrival' },
  start_us: {
    kind: moment,
    default: 'the first arrival',
    help: 'when that one chat begins; the client then has no rate',
  },
});

const MULTIMODAL = keys('multimodal', {
  text_distribution: length('text tokens', 'the `input_distribution`, if there is one'),
  image_distribution: length('tokens of an image', 'no images'),
  image_count_distribution: length('images of a prompt, 0 allowed', '1'),
  audio_distribution: length('tokens of a sound', 'no sounds'),
  audio_count_distribution: length('sounds of a prompt, 0 allowed', '1'),
  video_distribution: length('tokens of a film', 'no films'),
  video_count_distribution: length('films of a prompt, 0 allowed', '1'),
});

/** What clients and cohorts have in common, in the order in which it is written. */
const TRAFFIC: Keys = {
  tenant_id: { kind: text(), help: 'whom its requests are counted for' },
  slo_class: { kind: text(), help: 'class of its requests: all clients name one, or none does' },
  model: { kind: text(), default: 'any', help: 'only instances that serve exactly this model take its requests' },
  adapter: { kind: text(), help: 'kept, not simulated' },
  rate_fraction: {
    kind: above(0, 1e9),
    default: '1',
    help: "its share of `aggregate_rate`, over the sum of everybody's shares",
  },
  arrival: { kind: ARRIVAL, default: 'poisson', help: 'when requests, or chats, arrive' },
  input_distribution: { kind: LENGTH, help: 'prompt tokens besides a shared prefix; needed unless `multimodal` tells' },
  output_distribution: { kind: LENGTH, needed: true, help: 'tokens of the answer' },
  prefix_group: { kind: text(), help: 'prompts of one group start with the same tokens, whoever sends them' },
  prefix_length: { kind: whole(1, MAX_TOKENS), default: String(DEFAULT_PREFIX_TOKENS), help: 'how many these are' },
  streaming: { kind: flag, default: 'false', help: 'kept in traces, not simulated' },
  network: {
    kind: keys('network', {
      rtt_ms: { kind: number(0, 1e6), default: '0', help: 'round trip between client and cluster in milliseconds' },
      bandwidth_mbps: { kind: above(0, 1e6), default: 'unlimited', help: 'megabits per second' },
    }),
    default: 'no delay',
    help: 'the way to the client: adds to what it sees, not to what the server measures',
  },
  multimodal: { kind: MULTIMODAL, help: 'prompts of more than text; their length is the sum of the parts' },
  reasoning: {
    kind: keys('reasoning', {
      reason_ratio_distribution: length('reasoning among the tokens of an answer, in percent', '0'),
      multi_turn: { kind: MULTI_TURN, default: 'single requests', help: 'chats' },
    }),
    help: 'reasoning and chats',
  },
  timeout: {
    kind: whole(0, PAUSE.most),
    default: 'none; 300 s for chats and `concurrency`',
    help: 'microseconds after which it gives up; 0: never',
  },
  slo_target_us: { kind: whole(1, PAUSE.most), help: 'target of its requests for `--dispatch-order slo-deadline`' },
  closed_loop: {
    kind: flag,
    default: 'true for chats',
    help: 'a turn waits for the answer to the one before; false: all turns come at times set in advance',
  },
};

const WINDOWS = list('windows', {
  start_us: { kind: moment, needed: true, help: 'from this moment' },
  end_us: { kind: moment, needed: true, help: 'up to this one, exclusive' },
  trace_rate: {
    kind: rate,
    help: 'requests per second with an `aggregate_rate` of 0, else the share in place of `rate_fraction`',
  },
  arrival: { kind: ARRIVAL, default: "the client's", help: 'in this window' },
  input_distribution: length('in this window', "the client's"),
  output_distribution: length('in this window', "the client's"),
});

const id: Key = { kind: text(), needed: true, help: 'a name of its own; also names its random numbers' };

const CLIENT: Keys = {
  id,
  concurrency: {
    kind: whole(1, 10_000_000),
    help: 'users who each wait for their answer before they ask again, instead of a rate',
  },
  think_time_us: { kind: whole(0, PAUSE.most), default: '0', help: 'pause of such a user' },
  ...TRAFFIC,
  lifecycle: {
    kind: keys('lifecycle', { windows: { kind: WINDOWS, needed: true, help: 'in order of time, none into the next' } }),
    default: 'always',
    help: 'when it is active',
  },
};

const COHORT: Keys = {
  id,
  population: {
    kind: whole(1, MAX_POPULATION),
    needed: true,
    help: 'how many clients of this kind; they share the rate',
  },
  ...TRAFFIC,
  prefix_sharing: {
    kind: text(['shared', 'per_member']),
    default: 'shared',
    help: 'one prefix for all, or one of the same length for each',
  },
  diurnal: {
    kind: keys('diurnal', {
      peak_hour: { kind: whole(0, 23), needed: true, help: 'the hour that is active throughout' },
      peak_to_trough_ratio: {
        kind: number(1, 1e6),
        needed: true,
        help: 'how much busier it is than twelve hours later',
      },
    }),
    help: 'a rhythm of 24 hours: each begins with an active part, long or short by a cosine',
  },
  spike: {
    kind: keys('spike', {
      start_time_us: { kind: moment, needed: true, help: 'active from this moment' },
      duration_us: { kind: whole(1, LATEST_US), needed: true, help: 'for so long' },
      trace_rate: { kind: rate, help: 'as in a window, of all members together' },
    }),
    help: 'active once',
  },
  drain: {
    kind: keys('drain', {
      start_time_us: { kind: moment, needed: true, help: 'active throughout until this moment' },
      ramp_duration_us: { kind: whole(10, LATEST_US), needed: true, help: 'then less and less, in ten steps' },
    }),
    help: 'fades away',
  },
};

/** Every key of a specification: the top. */
export const SPEC = keys('', {
  version: { kind: text(['2', '1', '']), default: "'1'", help: "'2'; older ones are read as well" },
  seed: {
    kind: whole(0, Number.MAX_SAFE_INTEGER),
    default: '`--seed`',
    help: 'start of all its random numbers, unless `--seed` is given',
  },
  category: { kind: text(['', 'language', 'multimodal', 'reasoning']), default: "''", help: 'for people' },
  clients: { kind: list('clients', CLIENT), help: 'who sends' },
  cohorts: { kind: list('cohorts', COHORT), help: 'many clients of one kind each' },
  aggregate_rate: {
    kind: number(0, MAX_RATE),
    default: '0',
    help: 'requests per second of all clients together (of chats: chats); 0: every window gives its own `trace_rate`',
  },
  horizon: { kind: whole(1, LATEST_US), default: 'none', help: 'microseconds; nothing arrives later' },
  num_requests: {
    kind: whole(1, MAX_REQUESTS),
    default: '100 if nothing else ends it',
    help: 'how many requests at most, turns of chats included',
  },
  servegen_data: {
    kind: keys('servegen_data', { path: { kind: text(), needed: true, help: 'a folder' } }),
    help: 'known, but not read here',
  },
  inference_perf: {
    kind: keys('inference_perf', {
      stages: {
        kind: list('stages', {
          rate: { kind: rate, needed: true, help: 'requests per second' },
          duration: { kind: above(0, 1e6), needed: true, help: 'seconds' },
        }),
        needed: true,
        help: 'one after the other',
      },
      shared_prefix: {
        kind: keys('shared_prefix', {
          num_unique_system_prompts: { kind: whole(1, MAX_POPULATION), needed: true, help: 'prefix groups' },
          num_users_per_system_prompt: { kind: whole(1, MAX_POPULATION), needed: true, help: 'clients of each' },
          system_prompt_len: { kind: whole(1, MAX_TOKENS), needed: true, help: 'tokens of each prefix' },
          question_len: { kind: whole(1, MAX_TOKENS), needed: true, help: 'tokens after it' },
          output_len: { kind: whole(1, MAX_TOKENS), needed: true, help: 'tokens of the answer' },
          enable_multi_turn_chat: { kind: flag, default: 'false', help: 'every user holds one chat in each stage' },
        }),
        needed: true,
        help: 'users who share system prompts',
      },
    }),
    help: 'a shared-prefix load as inference-perf describes it, instead of clients',
  },
  goodput_slo_targets: {
    kind: {
      type: 'each',
      name: 'SLO classes',
      of: keys('goodput_slo_targets', {
        ttft_ms: { kind: above(0, 1e9), help: 'longest time to first token' },
        itl_ms: { kind: above(0, 1e9), help: 'longest mean gap between tokens' },
        e2e_ms: { kind: above(0, 1e9), help: 'longest time to the last token' },
      }),
    },
    help: 'what counts as good, by SLO class; flags win over it',
  },
});
