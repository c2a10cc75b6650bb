import { InputError } from '../../kernel/errors.js';
import { documentJson } from '../../report/text/document-json.js';
import type { AdviceDocument } from '../../twin/advise/advice-document.js';
import { ApiClient } from '../api/api-client.js';
import { endpointOfFlag } from '../api/endpoint-of-flag.js';
import { originOf, workspaceFor } from '../api/find-server.js';
import { StartedJob } from '../api/started-job.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { type AdviseFlags, adviceMetric, adviseGroups } from './advise-flags.js';
import { applyCommand, type CalledEndpoint, type RunningWork, switchTo } from './switch-policy.js';

export const ADVISE: CommandLine = {
  name: 'advise',
  summary: summaryOf('advise'),
  about:
    'The gateway simulates what it recorded of an endpoint with every routing policy, in a thread beside its requests: first as it was, ' +
    'which shows how far the simulation is off, then each policy. A policy is advised only if its gain is outside of the interval; ' +
    'otherwise the one in force is to be kept. Then the switch itself is simulated, with the caches that the present policy left. ' +
    'With --apply the gateway switches, measures --guard for --watch and goes back if it is worse, if too few requests end to tell, ' +
    'or on Ctrl-C; the exit code is 1 unless the new policy was kept. The gateway has to record its traffic (`record`). ' +
    'Needs the role operator.',
  groups: adviseGroups,
  examples: [
    'advise --gateway http://127.0.0.1:8081',
    'advise --endpoint chat --last 2h --metric e2e-mean --policies lmetric,weighted,unified',
    'advise --endpoint chat --policies lmetric --apply --guard ttft-p90:+10% --watch 10m',
    'advise --endpoint chat --output json',
  ],
};

/** Finds the best policy for what a gateway recorded, and switches to it. */
export async function adviseCommand(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<AdviseFlags>(ADVISE, argv);
  const { values } = flags;
  await checkFlags(flags);
  const { context, gateway, token, 'data-dir': dataDir, workspace } = values;
  const access = { server: gateway, token, 'data-dir': dataDir, context };
  const client = ApiClient.of(access, io);
  const called = await endpointOfFlag(client, values.endpoint, workspaceFor({ ...access, workspace }, io), workspace);
  const path = `/api/v1/${['workspaces', called.workspace, 'endpoints', called.name].map(encodeURIComponent).join('/')}`;
  const endpoint: CalledEndpoint = { ...called, client, path };

  // One handler for both jobs: a second one would end the process before the first has finished.
  const running: RunningWork = {
    ...{ job: null, isStopped: false },
    stopped: async () => 'cancelled; nothing was changed',
  };
  io.beforeSignal(() => stop(running, io));

  const { createWhatIfProgress } = await import('../whatif/whatif-progress.js');
  const progress = createWhatIfProgress(io);
  try {
    running.job = StartedJob.create(client, `${path}/advice`, questionOf(values));
    const document = await running.job
      .then((job) => job.result<AdviceDocument>((changed) => progress.update(changed.progress)))
      .catch((error) => {
        throw explained(error, called, client.url);
      });
    progress.end();
    if (document === null) return cancelled(io, running.isStopped, 'the advice was cancelled by another client');
    for (const note of document.notes) io.stderr.write(`twinyard: warning: ${note}\n`);
    const isJson = values.output === 'json';
    if (!isJson) {
      const { adviceTable } = await import('../../twin/advise/advice-table.js');
      io.stdout.write(adviceTable(document, presentation(io)));
    }
    if (!values.apply || document.best === null) {
      if (isJson) io.stdout.write(documentJson({ ...document, ...(values.apply ? { switch: null } : {}) }));
      else if (document.best !== null) io.stdout.write(applyCommand(endpoint, document, values));
      return 0;
    }
    const done = await switchTo(endpoint, document.best, values, io, progress, running);
    progress.end();
    if (done === null) return cancelled(io, running.isStopped, await running.stopped());
    io.stdout.write(isJson ? documentJson({ ...document, switch: done.result }) : `\n${done.text}\n`);
    return done.result.outcome === 'kept' ? 0 : 1;
  } finally {
    progress.end();
  }
}

/** Cancels the job and reports what became of it; a job that is being created is waited for. */
async function stop(running: RunningWork, io: CliIo): Promise<void> {
  running.isStopped = true;
  try {
    await (await running.job)?.cancel();
    io.stderr.write(`\ntwinyard: ${await running.stopped()}\n`);
  } catch (error) {
    io.stderr.write(`\ntwinyard: not cancelled: ${(error as Error).message}\n`);
  }
}

/** @param isStopped the signal reports what happened, and ends the process */
function cancelled(io: CliIo, isStopped: boolean, what: string): number {
  if (!isStopped) io.stderr.write(`twinyard: ${what}\n`);
  return isStopped ? 130 : 1;
}

async function checkFlags({ given, values }: FlagValues<AdviseFlags>): Promise<void> {
  if (values.gateway !== null) originOf(values.gateway, '--gateway');
  for (const flag of ['guard', 'watch'] as const) {
    if (given(flag) && !values.apply)
      throw conflictingFlags(`--${flag}`, 'is given without --apply', 'add --apply to switch, or leave it out');
  }
  if (values.policies === null) return;
  const { routingPolicy } = await import('../../policy/registry.js');
  for (const name of values.policies) routingPolicy(name, '--policies');
}

function questionOf({ hardware, last, metric, model, policies, runs, tp }: FlagValues<AdviseFlags>['values']): object {
  const given = Object.entries({ model, hardware, tp, runs, policies }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), metric: adviceMetric(metric), last: `${Math.ceil(last / 1e6)}s` };
}

const HINTS: Readonly<Record<string, string>> = {
  WHATIF_TOO_FEW: 'let the gateway record for longer, or choose a longer time with --last',
  WHATIF_NO_REQUESTS: 'choose a longer time with --last, or wait for requests',
  WHATIF_NO_PROFILE: 'name a model and a GPU of the catalogue with --model, --hardware and --tp',
  TWIN_UNKNOWN_ENGINE: 'name a model and a GPU of the catalogue with --model, --hardware and --tp',
};

/** An error of the API in the words of the command line. */
function explained(error: unknown, { name, workspace }: { workspace: string; name: string }, url: string): unknown {
  if (!(error instanceof InputError)) return error;
  const { code, place, problem } = error;
  if (code === 'API_ENDPOINT') {
    const hint = "'twinyard get endpoints' lists those that are";
    return new InputError(code, '--endpoint', `${workspace}/${name} is not served by ${url}`, hint);
  }
  return code in HINTS ? new InputError(code, place, problem, HINTS[code]!) : error;
}
