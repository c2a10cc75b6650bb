import { FITNESS_TERMS } from '../../simulator/results/fitness.js';
import { DETECTOR_NAMES } from '../../simulator/results/saturation/detectors/registry.js';
import { badChoice } from '../errors.js';
import { choiceFlag, count, file, listFlag, MAX_SPAN_US, microseconds, numberFlag, toggle } from './kinds.js';
import { CLASS_DURATIONS, readClassDurations, readWeights } from './read-list.js';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

const FITNESS_MEASURES = Object.keys(FITNESS_TERMS);

function goodputFlag(measure: string) {
  return listFlag<Record<string, number>>({
    default: {},
    accepted: CLASS_DURATIONS,
    read: readClassDurations,
    help: `goodput: longest ${measure}, of all requests or by class: duration or class=duration,...`,
  });
}

const ALL = 'all';

/** Which detectors judge a load, besides the verdict that every result has, and from when on they object. */
export const detectorFlags = {
  detectors: listFlag<string[]>({
    default: [],
    placeholder: 'names',
    accepted: `${DETECTOR_NAMES.join(', ')} with commas between them, or ${ALL}`,
    suggestions: async () => [...DETECTOR_NAMES, ALL],
    read: readDetectors,
    help: `further detectors of saturation: ${DETECTOR_NAMES.join(', ')} with commas between them, or ${ALL}`,
  }),
  'saturation-window': numberFlag({
    default: 30,
    min: 0.001,
    max: 1_000_000,
    placeholder: 's',
    help: 'detectors: seconds before the last arrival in which they vote',
  }),
  'saturation-threshold-ms': numberFlag({
    default: 5000,
    min: 0.001,
    max: 1_000_000_000,
    placeholder: 'ms',
    help: 'detector threshold: mean E2E that is an overload',
  }),
  'saturation-bucket': numberFlag({
    default: null,
    min: 0.001,
    max: 1_000_000,
    placeholder: 's',
    defaultText: '60, or a twentieth of the run',
    help: 'detector backlog-drift: seconds between two counts of requests in flight',
  }),
  'saturation-slope': numberFlag({
    default: 3,
    min: 1,
    max: 1_000_000,
    help: 'detector backlog-drift: growth above this many times what chance explains is an overload',
  }),
};

export type DetectorFlags = typeof detectorFlags;

/** Only of a single run. */
export const detectorReportFlags = {
  'saturation-report': file({ help: 'write what the detectors said over time: {final, trace} in JSON' }),
};

/** How long to run, what to measure, where results go. */
export const outputFlags = {
  seed: count({ default: 42, help: 'start of all random streams' }),
  'arrival-jitter-ms': numberFlag({
    default: 0,
    min: 0,
    max: MAX_SPAN_US / 1000,
    placeholder: 'ms',
    help: 'delay each arrival by up to this much, at random by the seed; 0: none',
  }),
  horizon: microseconds({
    default: null,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    defaultText: 'until all is done',
    help: 'simulated time to stop at',
  }),
  'trace-level': choiceFlag({ default: 'none', known: ['none', 'decisions'], help: 'what to record while running' }),
  'counterfactual-k': count({ default: 0, max: 100_000, help: 'candidates listed for each decision' }),
  'summarize-trace': toggle({ help: 'add a summary of the decisions to the result' }),
  'decisions-path': file({ help: 'write each decision as a line of JSON' }),
  'fitness-weights': listFlag<Record<string, number>>({
    default: {},
    accepted: `measures with weights, from ${FITNESS_MEASURES.join(', ')}`,
    read: (text, place) => readWeights(text, place, FITNESS_MEASURES),
    help: 'one score for the run: measure:weight,...',
  }),
  interval: toggle({ help: 'simulate twice more, with the quickest and slowest steps that are likely' }),
  'slo-ttft': goodputFlag('time to first token'),
  'slo-itl': goodputFlag('mean gap between tokens'),
  'slo-e2e': goodputFlag('time to the last token'),
  ...detectorFlags,
  ...detectorReportFlags,
  'metrics-path': file({ help: 'write the result with one entry per request' }),
  'results-path': file({ help: 'write the entries per request alone' }),
  'trace-output': file({ placeholder: 'prefix', help: 'write the simulated requests as prefix.yaml and prefix.csv' }),
  format: choiceFlag({ default: 'json', known: ['json', 'table'], help: 'how the result is printed' }),
  log: choiceFlag({ default: 'warn', known: LOG_LEVELS, help: 'what to report on stderr' }),
};

export type OutputFlags = typeof outputFlags;

function readDetectors(text: string, place: string): string[] {
  const names = text.split(',').map((item) => item.trim());
  if (names.includes(ALL)) return [...DETECTOR_NAMES];
  const unknown = names.find((name) => !DETECTOR_NAMES.includes(name));
  if (unknown !== undefined) throw badChoice(place, unknown, [...DETECTOR_NAMES, ALL]);
  return DETECTOR_NAMES.filter((name) => names.includes(name));
}
