import type { PlanDocument } from '../../experiment/plan/plan-document.js';
import type { Slo } from '../../experiment/plan/slo.js';
import { documentJson } from '../../report/text/document-json.js';
import { createStyle } from '../../report/text/style.js';
import type { FleetPlan } from '../../twin/plan/fleet-plan.js';
import { ApiClient } from '../api/api-client.js';
import { endpointOfFlag } from '../api/endpoint-of-flag.js';
import { explainedQuestion } from '../api/explained-question.js';
import { originOf, workspaceFor } from '../api/find-server.js';
import { cancelledWork, runningWork } from '../api/running-work.js';
import { StartedJob } from '../api/started-job.js';
import { conflictingFlags } from '../errors.js';
import { commandText } from '../execution/command-text.js';
import { printResult } from '../execution/print-result.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { type CliIo, presentation } from '../io.js';
import { createWhatIfProgress } from '../whatif/whatif-progress.js';
import { gatewayPlanFlags } from './gateway-flags.js';
import type { PlanFlags } from './plan-flags.js';

type Values = FlagValues<PlanFlags>['values'] & { readonly model: string | null; readonly workload: string | null };

/** Flags that a plan of a gateway takes; what else `plan` has is known to the gateway. */
const TAKEN: readonly string[] = [
  ...Object.keys(gatewayPlanFlags),
  ...['slo-ttft', 'slo-itl', 'slo-tpot', 'slo-e2e', 'rate', 'workload', 'max-instances', 'num-requests'],
  ...['routing-policy', 'model', 'gpu', 'tp', 'format', 'log'],
];

/** Plans the fleet of an endpoint in the gateway that serves it: as the API and the console do. */
export async function planGateway(
  flags: FlagValues<PlanFlags>,
  slos: readonly Slo[],
  argv: readonly string[],
  line: CommandLine,
  io: CliIo,
): Promise<number> {
  checkTaken(flags, line);
  const values = flags.values as Values;
  const { context, endpoint, gateway, token, 'data-dir': dataDir, workspace } = values;
  originOf(gateway!, '--gateway');
  const body = questionOf(flags, slos);
  const access = { server: gateway, token, 'data-dir': dataDir, context };
  const client = ApiClient.of(access, io);
  const called = await endpointOfFlag(client, endpoint, workspaceFor({ ...access, workspace }, io), workspace);
  const path = ['workspaces', called.workspace, 'endpoints', called.name, 'plan'].map(encodeURIComponent).join('/');
  const running = runningWork(io);
  const progress = createWhatIfProgress(io);
  try {
    running.job = StartedJob.create(client, `/api/v1/${path}`, body);
    const document = await running.job
      .then((job) => job.result<FleetPlan>((changed) => progress.update(changed.progress)))
      .catch((error) => {
        throw explainedQuestion(error, called, client.url);
      });
    progress.end();
    if (document === null) return cancelledWork(io, running, 'the plan was cancelled by another client');
    await print(document, values.format, commandText('plan', argv, line), io);
    return 0;
  } finally {
    progress.end();
  }
}

/** JSON is the result of the job; a table has what was recorded among its notes. */
async function print(found: FleetPlan, format: string, command: string, io: CliIo): Promise<void> {
  if (format === 'json') {
    io.stdout.write(documentJson(found));
    return;
  }
  const { candidates, plan, verdict } = found;
  const notes = [...evidence(found), ...found.notes];
  if (candidates.length === 0) {
    const style = createStyle(presentation(io));
    io.stdout.write(
      `${[verdict, ...notes.map((note) => `${note}.`)].flatMap((text) => style.prose(text)).join('\n')}\n`,
    );
    return;
  }
  const document: PlanDocument = { verdict, plan: { ...plan, notes, command }, candidates };
  await printResult({ kind: 'Plan', found: document }, { format, report: null }, io);
}

function evidence({ baseline, present, recording }: FleetPlan): string[] {
  if (recording === null || baseline === null) return [];
  const errors = baseline.metrics
    .filter(({ metric }) => metric === 'ttft_mean_ms' || metric === 'e2e_mean_ms')
    .map(({ error, metric }) => `${metric.startsWith('ttft') ? 'TTFT' : 'E2E'} mean ${(100 * error).toFixed(1)} %`);
  return [
    `recorded: ${recording.requests} requests over ${recording.durationS.toFixed(1)} s on ${present} replicas`,
    `the recording as simulated against what was measured: ${errors.join(', ')}`,
  ];
}

function checkTaken({ given, operands }: FlagValues<PlanFlags>, { groups }: CommandLine): void {
  if (operands.length > 0) {
    const hint = 'leave it out: flags describe the plan of a gateway';
    throw conflictingFlags(operands[0]!, 'given together with --gateway', hint);
  }
  for (const name of groups.flatMap(({ flags }) => Object.keys(flags))) {
    if (TAKEN.includes(name) || !given(name as keyof PlanFlags & string)) continue;
    throw conflictingFlags(`--${name}`, 'given together with --gateway', 'leave it out: the gateway knows its fleet');
  }
}

function questionOf(flags: FlagValues<PlanFlags>, slos: readonly Slo[]): object {
  const values = flags.values as Values;
  const { gpu, last, model, 'num-requests': requests, 'routing-policy': policies, to, tp, workload } = values;
  const given = {
    ...{ model, workload, requests, to },
    hardware: only('--gpu', gpu),
    tp: only('--tp', tp),
    policy: only('--routing-policy', policies),
    last: last === null ? null : `${Math.ceil(last / 1e6)}s`,
    max_replicas: flags.given('max-instances') ? values['max-instances'] : null,
    ...rateOf(values),
  };
  return {
    slos: slos.map(({ at, limitMs, of }) => ({
      ...{ metric: of, statistic: at === 'mean' ? at : `p${at}`, limit_ms: limitMs },
    })),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)),
  };
}

/** A preset has requests per second; recorded traffic is scaled. */
function rateOf({ rate, workload }: Values): { rate?: number; times?: number } {
  const wanted = only('--rate', rate);
  if (wanted === null) return {};
  const isPreset = workload !== null;
  if (isPreset !== (wanted.unit === 'per-second')) {
    const problem = isPreset ? 'is times a recorded rate, and a preset has none' : 'is not times the recorded rate';
    throw conflictingFlags('--rate', problem, isPreset ? "give requests per second, as in '20'" : "give it as in '2x'");
  }
  return isPreset ? { rate: wanted.value } : { times: wanted.value };
}

/** A gateway plans with one of each. */
function only<One>(flag: string, values: readonly One[] | null): One | null {
  if (values === null) return null;
  if (values.length > 1) throw conflictingFlags(flag, `has ${values.length} values with --gateway`, 'give one');
  return values[0]!;
}
