import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../kernel/errors.js';
import { readWorkloadSpec } from './read-workload-spec.js';

const BASE = `version: "2"
aggregate_rate: 10
num_requests: 50
clients:
  - id: shop
    slo_class: critical
    rate_fraction: 1
    arrival: { process: gamma, cv: 2 }
    input_distribution: { type: gaussian, params: { mean: 100, std_dev: 10, min: 1, max: 200 } }
    output_distribution: { type: constant, params: { value: 20 } }
    prefix_group: shop
    prefix_length: 64
    lifecycle: { windows: [{ start_us: 0, end_us: 100 }, { start_us: 200, end_us: 300 }] }
  - id: users
    slo_class: standard
    concurrency: 4
    think_time_us: 1000
    input_distribution: { type: lognormal, params: { mu: 5, sigma: 1 } }
    output_distribution: { type: empirical, params: { 10: 0.5, 20: 0.5 } }
cohorts:
  - id: crowd
    population: 20
    slo_class: batch
    input_distribution: { type: exponential, params: { mean: 50 } }
    output_distribution: { type: pareto_lognormal, params: { alpha: 2, xm: 10, mu: 4, sigma: 1, mix_weight: 0.1 } }
    reasoning: { multi_turn: { max_rounds: 3, think_time_us: 5000, context_growth: accumulate } }
    spike: { start_time_us: 10, duration_us: 500 }
`;

const PERF = `version: "2"
inference_perf:
  stages: [{ rate: 5, duration: 10 }]
  shared_prefix:
    num_unique_system_prompts: 2
    num_users_per_system_prompt: 3
    system_prompt_len: 100
    question_len: 20
    output_len: 30
`;

/** The mistake, how it is made, its place and the message. */
type Row = [rule: string, change: [from: string, to: string], place: string, says: string];

const table: Row[] = [
  [
    'YAML that ends in the middle',
    ['version: "2"', 'version: "2'],
    ':28:1',
    'Missing closing "quote; write plain YAML',
  ],
  [
    'two documents',
    [
      'spike: { start_time_us: 10, duration_us: 500 }',
      'spike: { start_time_us: 10, duration_us: 500 }\n---\nversion: "2"',
    ],
    ':28:1',
    'a second YAML document starts here; keep one document in the file',
  ],
  [
    'a key twice',
    ['num_requests: 50', 'num_requests: 50\nnum_requests: 60'],
    ':4:1',
    'Map keys must be unique; write plain YAML',
  ],
  [
    'an unknown key at the top',
    ['num_requests: 50', 'num_request: 50'],
    ':3:1 (num_request)',
    "unknown key 'num_request'; did you mean 'num_requests'?",
  ],
  [
    'an unknown key of a client',
    ['rate_fraction: 1', 'rate_fracton: 1'],
    ':7:5 (clients[0].rate_fracton)',
    "unknown key 'rate_fracton'; did you mean 'rate_fraction'?",
  ],
  [
    'an unknown key of an arrival',
    ['cv: 2 }', 'cv2: 2 }'],
    ':8:32 (clients[0].arrival.cv2)',
    "unknown key 'cv2'; did you mean 'cv'? known: process, cv, shape, scale",
  ],
  [
    'a map in place of a list',
    ['stages: [{ rate: 5, duration: 10 }]', 'stages: { rate: 5, duration: 10 }'],
    ':3:3 (inference_perf.stages)',
    'is not a list; give a list of entries with the keys rate, duration',
  ],
  [
    'an empty list',
    ['windows: [{ start_us: 0, end_us: 100 }, { start_us: 200, end_us: 300 }]', 'windows: []'],
    ':13:18 (clients[0].lifecycle.windows)',
    'is missing; give a list of entries with the keys start_us, end_us, trace_rate, arrival, input_distribution, output_distribution',
  ],
  [
    'a text in place of a map',
    ['arrival: { process: gamma, cv: 2 }', 'arrival: poisson'],
    ':8:14 (clients[0].arrival)',
    'is not a map; give its keys: process, cv, shape, scale',
  ],
  ['a list in place of a name', ['id: shop', 'id: [shop]'], ':5:5 (clients[0].id)', 'is not a single value; give text'],
  [
    'an unknown version',
    ['version: "2"', 'version: "3"'],
    ':1:10 (version)',
    "unknown value '3'; did you mean '2'? known: 2, 1",
  ],
  [
    'a rate that is not a number',
    ['aggregate_rate: 10', 'aggregate_rate: fast'],
    ':2:17 (aggregate_rate)',
    "'fast' is not a number; give a number from 0 to 1000000",
  ],
  [
    'a negative rate',
    ['aggregate_rate: 10', 'aggregate_rate: -1'],
    ':2:17 (aggregate_rate)',
    '-1 is too small; give a number from 0 to 1000000',
  ],
  [
    'an endless rate',
    ['aggregate_rate: 10', 'aggregate_rate: .inf'],
    ':2:17 (aggregate_rate)',
    'Infinity is not a number; give a number from 0 to 1000000',
  ],
  [
    'a rate beyond a microsecond',
    ['aggregate_rate: 10', 'aggregate_rate: 2e6'],
    ':2:17 (aggregate_rate)',
    '2000000 is too large; give a number from 0 to 1000000',
  ],
  [
    'part of a request',
    ['num_requests: 50', 'num_requests: 0.5'],
    ':3:15 (num_requests)',
    '0.5 is not a whole number; give a whole number from 1 to 100000000',
  ],
  [
    'no request',
    ['num_requests: 50', 'num_requests: 0'],
    ':3:15 (num_requests)',
    '0 is too small; give a whole number from 1 to 100000000',
  ],
  [
    'no horizon',
    ['num_requests: 50', 'horizon: 0'],
    ':3:10 (horizon)',
    '0 is too small; give a whole number from 1 to 1000000000000000',
  ],
  [
    'a negative seed',
    ['num_requests: 50', 'seed: -1'],
    ':3:7 (seed)',
    '-1 is too small; give a whole number of at least 0',
  ],
  [
    'an unknown category',
    ['num_requests: 50', 'category: langauge'],
    ':3:11 (category)',
    "unknown value 'langauge'; did you mean 'language'? known: language, multimodal, reasoning",
  ],
  ['a client without an id', ['id: shop', 'tenant_id: shop'], ':5:5 (clients[0].id)', 'is missing; give text'],
  ['an empty id', ['id: shop', 'id: ""'], ':5:9 (clients[0].id)', 'is missing; give text'],
  [
    'an id twice',
    ['id: users', 'id: shop'],
    ':14:9 (clients[1].id)',
    "'shop' is the id of clients[0] too; give each client and cohort a different id",
  ],
  [
    'an id of a client and of a cohort',
    ['id: crowd', 'id: users'],
    ':21:9 (cohorts[0].id)',
    "'users' is the id of clients[1] too; give each client and cohort a different id",
  ],
  [
    "an id of a client and of a cohort's member",
    ['id: users', 'id: crowd/19'],
    ':14:9 (clients[1].id)',
    "'crowd/19' is a member of the cohort 'crowd' too; give each client and cohort a different id",
  ],
  [
    'no share',
    ['rate_fraction: 1', 'rate_fraction: 0'],
    ':7:20 (clients[0].rate_fraction)',
    '0 is too small; give a number above 0, at most 1000000000',
  ],
  [
    'an unknown process',
    ['process: gamma', 'process: gama'],
    ':8:25 (clients[0].arrival.process)',
    "unknown value 'gama'; did you mean 'gamma'? known: constant, poisson, gamma, weibull",
  ],
  [
    'a process without its variation',
    ['process: gamma, cv: 2', 'process: gamma'],
    ':8:5 (clients[0].arrival.cv)',
    'gamma arrivals need a variation; give cv, or shape and scale',
  ],
  [
    'a variation of a process that has none',
    ['process: gamma, cv: 2', 'process: poisson, cv: 2'],
    ':8:38 (clients[0].arrival.cv)',
    'poisson arrivals have no cv; leave it out, or take gamma or weibull',
  ],
  [
    'no variation at all',
    ['cv: 2 }', 'cv: 0 }'],
    ':8:36 (clients[0].arrival.cv)',
    '0 is too small; give a number above 0, at most 1000',
  ],
  [
    'more variation than a process can have',
    ['process: gamma, cv: 2', 'process: weibull, cv: 500'],
    ':8:38 (clients[0].arrival.cv)',
    'weibull arrivals cannot vary by 500; give a number from 0.02 to 400',
  ],
  [
    'a shape without a scale',
    ['cv: 2 }', 'shape: 2 }'],
    ':8:39 (clients[0].arrival.shape)',
    'is given without scale; give cv, or shape and scale',
  ],
  [
    'a scale without a shape',
    ['cv: 2 }', 'scale: 2 }'],
    ':8:39 (clients[0].arrival.scale)',
    'is given without shape; give cv, or shape and scale',
  ],
  [
    'a variation and a shape',
    ['cv: 2 }', 'cv: 2, shape: 1, scale: 5 }'],
    ':8:46 (clients[0].arrival.shape)',
    'is given together with cv; give cv, or shape and scale',
  ],
  [
    'a scale of a constant rate',
    ['process: gamma, cv: 2', 'process: constant, scale: 2'],
    ':8:42 (clients[0].arrival.scale)',
    'constant arrivals have no scale; leave it out, or take gamma or weibull',
  ],
  [
    'an unknown distribution',
    ['type: gaussian', 'type: normal'],
    ':9:33 (clients[0].input_distribution.type)',
    "unknown value 'normal'; known: constant, gaussian, exponential, lognormal, pareto_lognormal, empirical",
  ],
  [
    'a parameter too few',
    ['std_dev: 10, ', ''],
    ':9:43 (clients[0].input_distribution.params.std_dev)',
    'gaussian needs it; give it: standard deviation before it is cut',
  ],
  [
    'a parameter of another distribution',
    ['std_dev: 10', 'sigma: 10'],
    ':9:71 (clients[0].input_distribution.params.sigma)',
    'unknown parameter of gaussian; known: mean, std_dev, min, max',
  ],
  [
    'a negative deviation',
    ['std_dev: 10', 'std_dev: -10'],
    ':9:73 (clients[0].input_distribution.params.std_dev)',
    '-10 is out of range; give a number from 0 up to 2147483647',
  ],
  [
    'a mean that is not a number',
    ['mean: 100', 'mean: hundred'],
    ':9:59 (clients[0].input_distribution.params.mean)',
    "'hundred' is not a number; give a number",
  ],
  [
    'parameters that are not a map',
    ['params: { value: 20 }', 'params: 20'],
    ':10:52 (clients[0].output_distribution.params)',
    'is not a map; give parameters, each with a number',
  ],
  [
    'a mean outside the bounds',
    ['mean: 100', 'mean: 300'],
    ':9:59 (clients[0].input_distribution.params.mean)',
    '300 is outside min and max; move one of the three',
  ],
  [
    'bounds the wrong way round',
    ['min: 1, max: 200', 'min: 150, max: 120'],
    ':9:82 (clients[0].input_distribution.params.min)',
    '150 is above max 120; swap the two',
  ],
  [
    'more tokens than fit',
    ['value: 20', 'value: 3e9'],
    ':10:61 (clients[0].output_distribution.params.value)',
    '3000000000 is out of range; give a number from 0 up to 2147483647',
  ],
  [
    'a spread that is too large',
    ['sigma: 1 } }\n    output_distribution: { type: emp', 'sigma: 21 } }\n    output_distribution: { type: emp'],
    ':18:68 (clients[1].input_distribution.params.sigma)',
    '21 is out of range; give a number from 0 up to 20',
  ],
  [
    'a tail without a power',
    ['alpha: 2', 'alpha: 0'],
    ':25:69 (cohorts[0].output_distribution.params.alpha)',
    '0 is out of range; give a number above 0 up to 100',
  ],
  [
    'a share of the tail above 1',
    ['mix_weight: 0.1', 'mix_weight: 1.1'],
    ':25:109 (cohorts[0].output_distribution.params.mix_weight)',
    '1.1 is out of range; give a number from 0 up to 1',
  ],
  [
    'invalid lengths',
    ['10: 0.5,', 'ten: 0.5,'],
    ':19:60 (clients[1].output_distribution.params.ten)',
    "'ten' is not a length; give whole numbers from 1 to 2147483647, each with its share",
  ],
  [
    'a length of 0',
    ['10: 0.5,', '0: 0.5,'],
    ':19:58 (clients[1].output_distribution.params.0)',
    "'0' is not a length; give whole numbers from 1 to 2147483647, each with its share",
  ],
  [
    'a negative share of a length',
    ['10: 0.5,', '10: -0.5,'],
    ':19:59 (clients[1].output_distribution.params.10)',
    'the share -0.5 is negative; give shares from 0',
  ],
  [
    'shares of nothing',
    ['10: 0.5, 20: 0.5', '10: 0, 20: 0'],
    ':19:45 (clients[1].output_distribution.params)',
    'all shares are 0; give at least one above 0',
  ],
  [
    'an empirical distribution of nothing',
    [', params: { 10: 0.5, 20: 0.5 }', ''],
    ':19:5 (clients[1].output_distribution.params)',
    'an empirical distribution needs lengths; give a file, or params with the share of each length',
  ],
  [
    'lengths given twice',
    ['params: { 10: 0.5, 20: 0.5 }', 'params: { 10: 1 }, file: lengths.csv'],
    ':19:70 (clients[1].output_distribution.file)',
    'is given together with params; keep one of them',
  ],
  [
    'a file of another distribution',
    ['params: { value: 20 }', 'file: lengths.csv'],
    ':10:50 (clients[0].output_distribution.file)',
    'a constant distribution has no file; give its params',
  ],
  [
    'a file that is not there',
    ['params: { 10: 0.5, 20: 0.5 }', 'file: no-such.csv'],
    ':19:51 (clients[1].output_distribution.file)',
    "cannot read 'no-such.csv': no such file; give the path of a readable file",
  ],
  [
    'no output',
    ['    output_distribution: { type: constant, params: { value: 20 } }\n', ''],
    ':5:5 (clients[0].output_distribution)',
    'is missing; give its keys: type, params, file',
  ],
  [
    'no input',
    ['    input_distribution: { type: exponential, params: { mean: 50 } }\n', ''],
    ':21:5 (cohorts[0].input_distribution)',
    'is missing; give type and params, or multimodal',
  ],
  [
    'a prefix without a group',
    ['    prefix_group: shop\n', ''],
    ':11:20 (clients[0].prefix_length)',
    'the group that shares the prefix is missing; add prefix_group, or leave it out',
  ],
  [
    'a prefix of no tokens',
    ['prefix_length: 64', 'prefix_length: 0'],
    ':12:20 (clients[0].prefix_length)',
    '0 is too small; give a whole number from 1 to 2147483647',
  ],
  [
    'two lengths of one prefix',
    ['concurrency: 4', 'concurrency: 4\n    prefix_group: shop'],
    ':14:5 (clients[1].prefix_length)',
    "the prefix of 'shop' has 50 tokens here and 64 at clients[0]; use one length per group, or two groups",
  ],
  [
    'sharing of no prefix',
    ['population: 20', 'population: 20\n    prefix_sharing: per_member'],
    ':23:21 (cohorts[0].prefix_sharing)',
    'there is no prefix to share; add prefix_group, or leave it out',
  ],
  [
    'an unknown way of sharing',
    ['population: 20', 'population: 20\n    prefix_group: p\n    prefix_sharing: everybody'],
    ':24:21 (cohorts[0].prefix_sharing)',
    "unknown value 'everybody'; known: shared, per_member",
  ],
  [
    'a window that ends before it starts',
    ['end_us: 100', 'end_us: 0'],
    ':13:51 (clients[0].lifecycle.windows[0].end_us)',
    '0 is not after start_us 0; give a later end_us',
  ],
  [
    'windows out of order',
    ['start_us: 200', 'start_us: 50'],
    ':13:70 (clients[0].lifecycle.windows[1].start_us)',
    '50 is before the window above ends at 100; put windows in order of time, without overlap',
  ],
  [
    'a window without an end',
    [', end_us: 300', ''],
    ':13:58 (clients[0].lifecycle.windows[1].end_us)',
    'is missing; give a whole number from 0 to 1000000000000000',
  ],
  [
    'a window before 0',
    ['start_us: 0', 'start_us: -5'],
    ':13:40 (clients[0].lifecycle.windows[0].start_us)',
    '-5 is too small; give a whole number from 0 to 1000000000000000',
  ],
  [
    'a window with a rate of 0',
    ['end_us: 100 }', 'end_us: 100, trace_rate: 0 }'],
    ':13:68 (clients[0].lifecycle.windows[0].trace_rate)',
    '0 is too small; give a number above 0, at most 1000000',
  ],
  [
    'a client without windows and no aggregate rate',
    [
      'aggregate_rate: 10\nnum_requests: 50\nclients:\n  - id: shop\n    slo_class: critical\n    rate_fraction: 1\n    arrival: { process: gamma, cv: 2 }',
      'clients:\n  - id: alone\n    slo_class: batch\n    input_distribution: { type: constant, params: { value: 20 } }\n    output_distribution: { type: constant, params: { value: 20 } }\n  - id: shop\n    slo_class: critical\n    rate_fraction: 1\n    arrival: { process: gamma, cv: 2 }',
    ],
    ':3:5 (clients[0].lifecycle)',
    'without an aggregate_rate it needs windows with a trace_rate; give it, or an aggregate_rate above 0',
  ],
  [
    'a window without a rate and no aggregate rate',
    ['aggregate_rate: 10', 'aggregate_rate: 0'],
    ':13:28 (clients[0].lifecycle.windows[0].trace_rate)',
    'without an aggregate_rate every window needs a trace_rate; give it, or an aggregate_rate above 0',
  ],
  [
    'a cohort without a rate and no aggregate rate',
    [
      'aggregate_rate: 10\nnum_requests: 50\nclients:\n  - id: shop\n    slo_class: critical\n    rate_fraction: 1\n    arrival: { process: gamma, cv: 2 }',
      'clients:\n  - id: shop\n    slo_class: critical\n    concurrency: 1',
    ],
    ':24:5 (cohorts[0].spike.trace_rate)',
    'without an aggregate_rate a cohort needs a spike with a trace_rate; give it, or an aggregate_rate above 0',
  ],
  [
    'users with a rate',
    ['concurrency: 4', 'concurrency: 4\n    rate_fraction: 1'],
    ':17:20 (clients[1].rate_fraction)',
    'contradicts concurrency: such users send when they have their response; keep one of them',
  ],
  [
    'users who arrive at random',
    ['concurrency: 4', 'concurrency: 4\n    arrival: { process: poisson }'],
    ':17:5 (clients[1].arrival)',
    'contradicts concurrency: such users send when they have their response; leave it out',
  ],
  [
    'users with sessions',
    ['concurrency: 4', 'concurrency: 4\n    reasoning: { multi_turn: { max_rounds: 2 } }'],
    ':17:18 (clients[1].reasoning.multi_turn)',
    'contradicts concurrency: such users hold no sessions; use a separate client for the sessions',
  ],
  [
    'users with a rate in a window',
    ['concurrency: 4', 'concurrency: 4\n    lifecycle: { windows: [{ start_us: 0, end_us: 5, trace_rate: 2 }] }'],
    ':17:66 (clients[1].lifecycle.windows[0].trace_rate)',
    'has no effect on users who wait; leave it out',
  ],
  [
    'no users',
    ['concurrency: 4', 'concurrency: 0'],
    ':16:18 (clients[1].concurrency)',
    '0 is too small; give a whole number from 1 to 10000000',
  ],
  [
    'a pause without users',
    ['concurrency: 4', 'rate_fraction: 4'],
    ':17:20 (clients[1].think_time_us)',
    'no user waits for a response; add concurrency; the pauses of sessions are reasoning.multi_turn.think_time_us',
  ],
  [
    'a cohort with windows',
    ['population: 20', 'population: 20\n    lifecycle: { windows: [{ start_us: 0, end_us: 5 }] }'],
    ':23:5 (cohorts[0].lifecycle)',
    "unknown key 'lifecycle';",
  ],
  [
    'a cohort with users',
    ['population: 20', 'population: 20\n    concurrency: 2'],
    ':23:5 (cohorts[0].concurrency)',
    "unknown key 'concurrency';",
  ],
  [
    'a cohort without members',
    ['population: 20', 'population: 0'],
    ':22:17 (cohorts[0].population)',
    '0 is too small; give a whole number from 1 to 100000',
  ],
  [
    'a cohort of too many',
    ['population: 20', 'population: 100001'],
    ':22:17 (cohorts[0].population)',
    '100001 is too large; give a whole number from 1 to 100000',
  ],
  [
    'cohorts of too many together',
    [
      'cohorts:\n',
      'cohorts:\n  - &c { id: c0, population: 100000, slo_class: batch, input_distribution: { type: constant, params: { value: 2 } }, output_distribution: { type: constant, params: { value: 2 } } }\n  - *c\n  - *c\n  - *c\n  - *c\n  - *c\n  - *c\n  - *c\n  - *c\n  - *c\n',
    ],
    ':20:1 (cohorts)',
    'all cohorts together have 1000020 members; give at most 1000000',
  ],
  [
    'two patterns of one cohort',
    ['population: 20', 'population: 20\n    drain: { start_time_us: 0, ramp_duration_us: 1000 }'],
    ':23:5 (cohorts[0].drain)',
    'is given together with spike; use a cohort for each pattern',
  ],
  [
    'an hour that no day has',
    ['spike: { start_time_us: 10, duration_us: 500 }', 'diurnal: { peak_hour: 24, peak_to_trough_ratio: 3 }'],
    ':27:27 (cohorts[0].diurnal.peak_hour)',
    '24 is too large; give a whole number from 0 to 23',
  ],
  [
    'a trough above the peak',
    ['spike: { start_time_us: 10, duration_us: 500 }', 'diurnal: { peak_hour: 12, peak_to_trough_ratio: 0.5 }'],
    ':27:53 (cohorts[0].diurnal.peak_to_trough_ratio)',
    '0.5 is too small; give a number from 1 to 1000000',
  ],
  [
    'a spike of no length',
    ['duration_us: 500', 'duration_us: 0'],
    ':27:46 (cohorts[0].spike.duration_us)',
    '0 is too small; give a whole number from 1 to 1000000000000000',
  ],
  [
    'a drain without a ramp',
    ['spike: { start_time_us: 10, duration_us: 500 }', 'drain: { start_time_us: 10 }'],
    ':27:5 (cohorts[0].drain.ramp_duration_us)',
    'is missing; give a whole number from 10 to 1000000000000000',
  ],
  [
    'sessions without turns',
    ['max_rounds: 3', 'max_rounds: 0'],
    ':26:44 (cohorts[0].reasoning.multi_turn.max_rounds)',
    '0 is too small; give a whole number from 1 to 100000',
  ],
  [
    'sessions without a length',
    ['max_rounds: 3, ', ''],
    ':26:18 (cohorts[0].reasoning.multi_turn.max_rounds)',
    'is missing; give a whole number from 1 to 100000',
  ],
  [
    'two kinds of pauses',
    ['max_rounds: 3', 'max_rounds: 3, think_time_distribution: { type: constant, params: { value: 1 } }'],
    ':26:47 (cohorts[0].reasoning.multi_turn.think_time_distribution)',
    'is given together with think_time_us; keep one of them',
  ],
  [
    'an unknown growth',
    ['context_growth: accumulate', 'context_growth: accumulates'],
    ':26:84 (cohorts[0].reasoning.multi_turn.context_growth)',
    "unknown value 'accumulates'; did you mean 'accumulate'? known: accumulate",
  ],
  [
    'a set beginning of many sessions',
    ['max_rounds: 3', 'max_rounds: 3, start_us: 7'],
    ':26:57 (cohorts[0].reasoning.multi_turn.start_us)',
    'only a single session can begin at a set time; add single_session: true, or leave it out',
  ],
  [
    'a set beginning and a pattern',
    ['max_rounds: 3', 'max_rounds: 3, single_session: true, start_us: 7'],
    ':27:5 (cohorts[0].spike)',
    'has no effect on a session that begins at start_us; leave one of them out',
  ],
  [
    'a closed loop of single requests',
    ['prefix_length: 64', 'prefix_length: 64\n    closed_loop: true'],
    ':13:18 (clients[0].closed_loop)',
    'nothing follows a response; add reasoning.multi_turn or concurrency, or leave it out',
  ],
  [
    'a switch that is neither on nor off',
    ['prefix_length: 64', 'prefix_length: 64\n    streaming: perhaps'],
    ':13:16 (clients[0].streaming)',
    "'perhaps' is neither true nor false; give true or false",
  ],
  [
    'a timeout before the request',
    ['prefix_length: 64', 'prefix_length: 64\n    timeout: -1'],
    ':13:14 (clients[0].timeout)',
    '-1 is too small; give a whole number from 0 to 1000000000000',
  ],
  [
    'a target of nothing',
    ['prefix_length: 64', 'prefix_length: 64\n    slo_target_us: 0'],
    ':13:20 (clients[0].slo_target_us)',
    '0 is too small; give a whole number from 1 to 1000000000000',
  ],
  [
    'an adapter',
    ['prefix_length: 64', 'prefix_length: 64\n    adapter: french'],
    ':13:14 (clients[0].adapter)',
    'has no effect: adapters are not simulated; remove it',
  ],
  [
    'a network of nothing',
    ['prefix_length: 64', 'prefix_length: 64\n    network: {}'],
    ':13:5 (clients[0].network)',
    'is empty; give rtt_ms or bandwidth_mbps, or leave it out',
  ],
  [
    'no bandwidth',
    ['prefix_length: 64', 'prefix_length: 64\n    network: { bandwidth_mbps: 0 }'],
    ':13:32 (clients[0].network.bandwidth_mbps)',
    '0 is too small; give a number above 0, at most 1000000',
  ],
  [
    'images of no size',
    [
      'prefix_length: 64',
      'prefix_length: 64\n    multimodal: { image_count_distribution: { type: constant, params: { value: 2 } } }',
    ],
    ':13:19 (clients[0].multimodal.image_count_distribution)',
    'the number of tokens of each image is missing; give image_distribution too',
  ],
  [
    'media of nothing',
    ['prefix_length: 64', 'prefix_length: 64\n    multimodal: {}'],
    ':13:5 (clients[0].multimodal)',
    'is empty; give text_distribution, image_distribution or another, or leave it out',
  ],
  [
    'more images than fit',
    [
      'prefix_length: 64',
      'prefix_length: 64\n    multimodal: { image_distribution: { type: constant, params: { value: 2 } }, image_count_distribution: { type: constant, params: { value: 20000 } } }',
    ],
    ':13:142 (clients[0].multimodal.image_count_distribution.params.value)',
    '20000 is out of range; give a number from 0 up to 10000',
  ],
  [
    'more reasoning than output',
    [
      'prefix_length: 64',
      'prefix_length: 64\n    reasoning: { reason_ratio_distribution: { type: constant, params: { value: 101 } } }',
    ],
    ':13:80 (clients[0].reasoning.reason_ratio_distribution.params.value)',
    '101 is out of range; give a number from 0 up to 100',
  ],
  [
    'a class for some',
    ['    slo_class: standard\n', ''],
    ':14:5 (clients[1].slo_class)',
    "is missing, but clients[0] has the class 'critical'; give all clients and cohorts a class, or none",
  ],
  [
    'a class of version 1',
    ['slo_class: standard', 'slo_class: interactive'],
    ':15:16 (clients[1].slo_class)',
    "'interactive' is a class of version 1; write 'standard', or version: \"1\"",
  ],
  [
    'a class without a target',
    ['num_requests: 50', 'goodput_slo_targets: { critical: {} }'],
    ':3:24 (goodput_slo_targets.critical)',
    'has no target; give ttft_ms, itl_ms or e2e_ms',
  ],
  [
    'a target that nothing can meet',
    ['num_requests: 50', 'goodput_slo_targets: { critical: { ttft_ms: 0 } }'],
    ':3:45 (goodput_slo_targets.critical.ttft_ms)',
    '0 is too small; give a number above 0, at most 1000000000',
  ],
  [
    'an unknown measure',
    ['num_requests: 50', 'goodput_slo_targets: { critical: { tpot_ms: 5 } }'],
    ':3:36 (goodput_slo_targets.critical.tpot_ms)',
    "unknown key 'tpot_ms'; did you mean 'ttft_ms'? known: ttft_ms, itl_ms, e2e_ms",
  ],
  [
    'no clients',
    [
      'inference_perf:\n  stages: [{ rate: 5, duration: 10 }]\n  shared_prefix:\n    num_unique_system_prompts: 2\n    num_users_per_system_prompt: 3\n    system_prompt_len: 100\n    question_len: 20\n    output_len: 30\n',
      'num_requests: 5\n',
    ],
    ':1:1 (clients)',
    'no client sends anything; give clients, cohorts or inference_perf',
  ],
  [
    'inference-perf and a rate',
    ['inference_perf:\n', 'aggregate_rate: 2\ninference_perf:\n'],
    ':2:17 (aggregate_rate)',
    'is given together with inference_perf; keep one of them',
  ],
  [
    'inference-perf without stages',
    ['stages: [{ rate: 5, duration: 10 }]', 'stages: []'],
    ':3:3 (inference_perf.stages)',
    'is missing; give a list of entries with the keys rate, duration',
  ],
  [
    'a stage without a rate',
    ['rate: 5, ', ''],
    ':3:12 (inference_perf.stages[0].rate)',
    'is missing; give a number above 0, at most 1000000',
  ],
  [
    'a stage of no length',
    ['duration: 10', 'duration: 0'],
    ':3:33 (inference_perf.stages[0].duration)',
    '0 is too small; give a number above 0, at most 1000000',
  ],
  [
    'no system prompts',
    ['num_unique_system_prompts: 2', 'num_unique_system_prompts: 0'],
    ':5:32 (inference_perf.shared_prefix.num_unique_system_prompts)',
    '0 is too small; give a whole number from 1 to 100000',
  ],
  [
    'more users than clients can be',
    [
      'num_unique_system_prompts: 2\n    num_users_per_system_prompt: 3',
      'num_unique_system_prompts: 11\n    num_users_per_system_prompt: 100000',
    ],
    ':6:34 (inference_perf.shared_prefix.num_users_per_system_prompt)',
    'that is 1100000 users; give at most 1000000',
  ],
  [
    'a ServeGen folder',
    ['inference_perf:\n', 'servegen_data: { path: data }\ninference_perf:\n'],
    ':2:1 (servegen_data)',
    "a ServeGen folder is not read here; replace it by the output of 'twinyard convert servegen'",
  ],
];

describe('every rule, broken one at a time', () => {
  it('never fails in any other way, for any file', () => {
    const pieces = [
      '',
      ' ',
      '\n',
      ':',
      '-',
      '{',
      '}',
      '[',
      ']',
      '0',
      '-1',
      '1e400',
      '.nan',
      'null',
      '&a',
      '*a',
      '? ',
      '"',
      '#',
      '\t',
    ];
    const edit = fc.tuple(fc.nat(BASE.length), fc.nat(12), fc.constantFrom(...pieces));
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let text = BASE;
        for (const [at, length, piece] of edits) text = text.slice(0, at) + piece + text.slice(at + length);
        try {
          readWorkloadSpec(text, 'spec.yaml');
        } catch (error) {
          expect(error, text).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('starts from a valid specification', () => {
    expect(readWorkloadSpec(BASE, 'spec.yaml').clients).toHaveLength(2);
    expect(readWorkloadSpec(PERF, 'spec.yaml').inference_perf?.stages).toHaveLength(1);
  });

  it.each(table)('%s', (_, [from, to], place, says) => {
    const base = BASE.includes(from) ? BASE : PERF;
    expect(base).toContain(from);
    let caught: unknown;
    try {
      readWorkloadSpec(
        base.replace(from, () => to),
        'spec.yaml',
      );
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(InputError);
    const { place: found, message, hint } = caught as InputError;
    expect(found).toBe(`spec.yaml${place}`);
    expect(message).toContain(says);
    expect(hint).not.toBe('');
  });
});
