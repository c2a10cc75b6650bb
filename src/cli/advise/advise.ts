import { documentJson } from '../../report/text/document-json.js';
import type { AdviceDocument } from '../../twin/advise/advice-document.js';
import { ApiClient } from '../api/api-client.js';
import { endpointOfFlag } from '../api/endpoint-of-flag.js';
import { explainedQuestion } from '../api/explained-question.js';
import { originOf, workspaceFor } from '../api/find-server.js';
import { cancelledWork, runningWork } from '../api/running-work.js';
import { StartedJob } from '../api/started-job.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { type AdviseFlags, adviceMetric, adviseGroups } from './advise-flags.js';
import { applyCommand, type CalledEndpoint, switchTo } from './switch-policy.js';

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

  const running = runningWork(io);

  const { createWhatIfProgress } = await import('../whatif/whatif-progress.js');
  const progress = createWhatIfProgress(io);
  try {
    running.job = StartedJob.create(client, `${path}/advice`, questionOf(values));
    const document = await running.job
      .then((job) => job.result<AdviceDocument>((changed) => progress.update(changed.progress)))
      .catch((error) => {
        throw explainedQuestion(error, called, client.url);
      });
    progress.end();
    if (document === null) return cancelledWork(io, running, 'the advice was cancelled by another client');
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
    if (done === null) return cancelledWork(io, running, await running.stopped());
    io.stdout.write(isJson ? documentJson({ ...document, switch: done.result }) : `\n${done.text}\n`);
    return done.result.outcome === 'kept' ? 0 : 1;
  } finally {
    progress.end();
  }
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

function questionOf({ last, metric, ...rest }: FlagValues<AdviseFlags>['values']): object {
  const { hardware, model, policies, runs, to, tp } = rest;
  const given = Object.entries({ model, hardware, tp, runs, policies, to }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), metric: adviceMetric(metric), last: `${Math.ceil(last / 1e6)}s` };
}
