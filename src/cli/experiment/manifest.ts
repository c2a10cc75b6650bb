import { rayWorkerJobs, workersJob } from '../../experiment/queue/worker-manifests.js';
import { badValue, conflictingFlags, missingFlag } from '../errors.js';
import { queueFlags, sharedPathFlag } from '../execution/execution-flags.js';
import { experimentSummaryOf } from '../experiment.js';
import type { CommandLine } from '../flags/command-line.js';
import type { Flag } from '../flags/flag.js';
import { count, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';

const NAME = /^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$/;

const named = (defaultText: string, help: string): Flag<string | null> => ({
  ...stringFlag({ default: null, placeholder: 'name', defaultText, help }),
  read(given, place) {
    if (NAME.test(given)) return given;
    throw badValue(place, given, 'is not a name in Kubernetes', 'a-z, 0-9 and -, at most 52 of them');
  },
});

const manifestFlags = {
  kubernetes: toggle({ help: 'print an Indexed Job for kubectl apply' }),
  ray: toggle({ help: "print bodies for Ray's job API, one line for each worker" }),
  ...queueFlags,
  workers: count({ default: 2, min: 1, max: 10_000, help: 'workers, each a pod or a Ray job' }),
  cpus: count({ default: 2, min: 1, max: 1024, help: 'CPUs and threads of each' }),
  image: stringFlag({
    default: null,
    placeholder: 'image',
    defaultText: 'twinyard:<version>',
    help: 'container image (Kubernetes)',
  }),
  name: named('twinyard-workers', 'name of the job'),
  namespace: named('of the context', 'namespace (Kubernetes)'),
  secret: named('', "secret whose key 'url' is the URL of the queue (Kubernetes); needed where the URL has a password"),
  'shared-path': sharedPathFlag,
  'until-idle': count({ default: 60, min: 1, help: 'seconds without a run after which a worker ends' }),
};

export const EXPERIMENT_MANIFEST: CommandLine = {
  name: 'experiment manifest',
  summary: experimentSummaryOf('manifest'),
  about:
    "The job runs 'twinyard worker' on the queue that an experiment uses, and ends when the queue is empty. Ray nodes need Node.js " +
    'and the program. A password is never printed: pods read the URL from a Secret, Ray nodes from TWINYARD_QUEUE in their environment.',
  groups: [{ title: 'Job', flags: manifestFlags }],
  examples: [
    'experiment manifest --kubernetes --queue redis://redis.default:6379 --workers 8 --cpus 4',
    'experiment manifest --ray --queue redis://10.0.0.5:6379 --workers 4',
  ],
};

/** Prints jobs of other schedulers that run workers. */
export async function experimentManifest(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof manifestFlags>(EXPERIMENT_MANIFEST, argv);
  if (values.kubernetes === values.ray) {
    if (values.ray) throw conflictingFlags('--kubernetes', 'given together with --ray', 'keep one of them');
    throw missingFlag('--kubernetes', 'or --ray is required', 'give one of them');
  }
  const hasPassword = values.queue !== null && new URL(values.queue).password !== '';
  const options = {
    name: values.name ?? 'twinyard-workers',
    namespace: values.namespace,
    image: values.image,
    // The URL is not printed with its password.
    queue: hasPassword ? null : values.queue,
    secret: values.secret ?? (hasPassword || values.queue === null ? 'twinyard-queue' : null),
    ...{
      workers: values.workers,
      cpus: values.cpus,
      sharedPath: values['shared-path'],
      untilIdleS: values['until-idle'],
    },
  };
  if (values.kubernetes) {
    io.stdout.write(workersJob(options));
    if (options.secret !== null) {
      io.stderr.write(
        `twinyard: the pods read the URL from a Secret: kubectl create secret generic ${options.secret} --from-literal=url=<url>\n`,
      );
    }
    return 0;
  }
  io.stdout.write(rayWorkerJobs(options));
  if (options.queue === null)
    io.stderr.write('twinyard: set TWINYARD_QUEUE in the environment of the Ray nodes: its URL is not printed\n');
  return 0;
}
