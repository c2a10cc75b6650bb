import { setTimeout as delay } from 'node:timers/promises';
import type { SwitchResult } from '../../api/jobs/guarded-switch.js';
import { RunError } from '../../kernel/errors.js';
import type { Advice, AdviceDocument } from '../../twin/advise/advice-document.js';
import type { ApiClient } from '../api/api-client.js';
import type { RunningWork } from '../api/running-work.js';
import { StartedJob } from '../api/started-job.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import type { ShownProgress } from '../whatif/whatif-progress.js';
import type { AdviseFlags } from './advise-flags.js';
import { flagName, guardText } from './read-guard.js';

/** An endpoint of a gateway. */
export interface CalledEndpoint {
  readonly workspace: string;
  readonly name: string;
  readonly client: ApiClient;
  /** Of the endpoint in the API. */
  readonly path: string;
}

interface LivePolicy {
  readonly policy: { readonly routing: { policy: string; block_size?: number; cache_blocks?: number } };
}

type Values = Pick<FlagValues<AdviseFlags>['values'], 'guard' | 'watch'>;

/** Switches with a guard and waits for the end of the watch; null when it was cancelled. */
export async function switchTo(
  endpoint: CalledEndpoint,
  best: Advice,
  { guard, watch }: Values,
  io: CliIo,
  progress: { update(progress: ShownProgress): void },
  running: RunningWork,
): Promise<{ readonly result: SwitchResult; readonly text: string } | null> {
  const { client, name, path, workspace } = endpoint;
  const live = () => client.call<LivePolicy>('GET', `${path}/live`).then(({ policy }) => policy.routing);
  const before = await live();
  const shown = `${workspace}/${name}`;
  // The advice was simulated with the prompt blocks of the present policy.
  const { block_size, cache_blocks } = before;
  const policy = { ...best.routing, block_size, cache_blocks };
  const body = { policy, guard, watch: seconds(watch) };
  running.job = StartedJob.create(client, `${path}/policy/switch`, body);
  running.stopped = async () => `cancelled: ${shown} has the policy ${(await live()).policy} again`;
  const job = await running.job;
  const bound = `${flagName(guard.metric)} is watched for ${seconds(watch)}`;
  io.stderr.write(
    `twinyard: switching ${shown} from ${before.policy} to ${best.policy}; ${bound}; Ctrl-C goes back to ${before.policy}\n`,
  );
  const result = await job
    .result<SwitchResult>((changed) => progress.update(changed.progress), RESTART)
    .catch((error) => afterLoss(error, shown, before.policy, live));
  if (result === null) return null;
  return { result, text: outcomeText(result, best.policy, before.policy, (await live()).policy) };
}

/** Tries to reach a gateway that starts again: for about a minute. */
const RESTART = 26;

/** How long a gateway that was killed may take to be back at the former policy. */
const BACK_MS = 30_000;
const LOOK_MS = 500;

/** A gateway that was killed goes back when it starts again: the policy in force then is part of the report. */
async function afterLoss(
  error: unknown,
  shown: string,
  former: string,
  live: () => Promise<{ policy: string }>,
): Promise<never> {
  if (!(error instanceof RunError)) throw error;
  if (error.code !== 'JOB_GONE') {
    const goesOn = `the watch of ${shown} goes on without this command; a gateway that stopped goes back to ${former} when it starts again`;
    throw new RunError(error.code, `${error.message}; ${goesOn}`);
  }
  let present = '';
  for (let waited = 0; present !== former && waited <= BACK_MS; waited += LOOK_MS) {
    if (present !== '') await delay(LOOK_MS);
    // Its replicas are not served again at once.
    present = await live().then(
      ({ policy }) => policy,
      () => 'not known',
    );
  }
  const problem = `the gateway was restarted while the switch of ${shown} was watched`;
  throw new RunError('JOB_GONE', `${problem}: its policy is ${present}${present === former ? ' again' : ''}`);
}

export function outcomeText(
  { outcome, reason, requests }: SwitchResult,
  next: string,
  before: string,
  now: string,
): string {
  if (outcome === 'kept') return `Kept ${next}: ${reason}, over ${requests} requests.`;
  if (outcome === 'returned') return `Went back to ${before}: ${reason}.`;
  return `Left alone: ${reason}; the policy is ${now}.`;
}

/** How to apply advice, as a command to paste. */
export function applyCommand(
  { client, name, workspace }: CalledEndpoint,
  { best }: AdviceDocument,
  { guard, watch }: Values,
): string {
  const percent = `${Number((100 * guard.most).toFixed(6))} %`;
  const flags = `--gateway ${client.url} --endpoint ${workspace}/${name} --policies ${best!.policy}`;
  return `
To switch, watch for ${seconds(watch)}, and go back if ${flagName(guard.metric)} is more than ${percent} worse:
  twinyard advise ${flags} --apply --guard ${guardText(guard)} --watch ${seconds(watch)}
`;
}

const seconds = (us: number) => (us % 60_000_000 === 0 ? `${us / 60_000_000}m` : `${us / 1e6}s`);
