import { shownUrl } from '../../experiment/queue/redis-connection.js';
import { comparisonFlags } from '../compare/compare-flags.js';
import { badValue } from '../errors.js';
import type { Flag } from '../flags/flag.js';
import { count, file, stringFlag } from '../flags/kinds.js';

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
  workers: comparisonFlags.workers,
  cache: comparisonFlags.cache,
  'no-cache': comparisonFlags['no-cache'],
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
