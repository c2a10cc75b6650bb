import { shownUrl } from '../../experiment/queue/redis-connection.js';
import { badValue } from '../errors.js';
import type { Flag } from '../flags/flag.js';
import { choiceFlag, count, file, stringFlag, toggle } from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';

const THREADS = 'threads';

/** A URL that is checked without being repeated: it may hold a password. */
function urlFlag(spec: { defaultText: string; help: string; other?: string }): Flag<string | null> {
  return {
    ...stringFlag({ default: null, placeholder: 'url', ...spec }),
    accepted: 'redis://host:6379, or rediss:// for TLS',
    read(text, place) {
      if (text === spec.other) return text;
      shownUrl(text, place);
      return text;
    },
  };
}

export const sharedPathFlag = file({
  placeholder: 'folder',
  help: 'a folder that all machines have, such as a network mount: inputs below it are read there instead of being sent',
});

/** Where and how runs are computed: they never change the result. */
export const executionFlags = {
  workers: count({ default: null, min: 1, max: 1024, defaultText: 'as many as cores', help: 'runs at a time' }),
  cache: file({
    placeholder: 'folder',
    defaultText: '~/.cache/twinyard/runs',
    help: 'folder of cached results: no run is computed twice',
  }),
  'no-cache': toggle({ help: 'do not read or write the cache' }),
  executor: {
    ...urlFlag({
      defaultText: THREADS,
      other: THREADS,
      help: "where runs are computed: threads of this machine, or workers ('twinyard worker') on a queue, redis://host:6379",
    }),
    suggestions: async () => [THREADS, 'redis://'],
  },
  'shared-path': sharedPathFlag,
  'max-upload-mib': count({
    default: 256,
    max: 1_000_000,
    help: 'with a queue: most MiB of traces and other files that are sent through it',
  }),
};

export type ExecutionFlags = typeof executionFlags;

/** Only where all runs are known before the first: a search needs its coordinator. */
export const detachFlags = {
  detach: toggle({
    help: "with a queue: leave the experiment there; 'twinyard experiment fetch' prints its result",
  }),
};

export type DetachFlags = typeof detachFlags;

/** How the result is shown. */
export const resultFlags = {
  report: file({ help: 'also write a page with plots: one self-contained HTML file' }),
  format: choiceFlag({ default: 'json', known: ['json', 'table', 'csv', 'html'], help: 'how the result is printed' }),
  log: outputFlags.log,
};

export type ResultFlags = typeof resultFlags;

/** The queue of a worker or of a command about experiments. */
export const queueFlags = {
  queue: urlFlag({
    defaultText: 'TWINYARD_QUEUE',
    help: 'Redis server: redis://host:6379, rediss:// for TLS; the environment keeps a password out of the process list',
  }),
};

export type QueueFlags = typeof queueFlags;

/** The URL of the flag or of the environment. */
export function queueUrl(
  given: string | null,
  env: Readonly<Record<string, string | undefined>>,
): { url: string; place: string } {
  if (given !== null) return { url: given, place: '--queue' };
  const url = env.TWINYARD_QUEUE;
  if (url === undefined || url === '')
    throw badValue('--queue', '', 'is empty, and so is TWINYARD_QUEUE', 'redis://host:6379');
  shownUrl(url, 'TWINYARD_QUEUE');
  return { url, place: 'TWINYARD_QUEUE' };
}

/** Whether runs are computed by workers on a queue. */
export function isQueue(executor: string | null): executor is string {
  return executor !== null && executor !== THREADS;
}
