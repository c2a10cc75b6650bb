import type { Resource } from '../../../control/resources/resource.js';
import type { ApiClient } from '../../api/api-client.js';
import type { Flag } from '../../flags/flag.js';
import { listFlag } from '../../flags/kinds.js';
import { readSpan } from '../../keys/flags/read-span.js';
import { goneMeanwhile, hasFailed, notThere, waitedInVain } from '../errors.js';
import type { CalledResource } from './called-resource.js';
import { stateText, type WaitCondition } from './wait-condition.js';
import { watchResources } from './watch-resources.js';

/** As long as timers can be. */
const LONGEST_MS = 2 ** 31 - 1;

const SPANS = "seconds, or a duration as in '20s' or '5m'";

const timeout: Flag<number> = listFlag({
  default: 300_000,
  defaultText: '5m',
  placeholder: 'duration',
  accepted: SPANS,
  help: `longest wait: ${SPANS}; 0 checks once`,
  read(given, place) {
    const text = /^\d+$/.test(given.trim()) ? `${given.trim()}s` : given.trim();
    return readSpan(text, place, SPANS);
  },
});

export const timeoutFlags = { timeout };

/**
 * Waits until a resource meets a condition, even over restarts of the server. Throws at the timeout, and when the
 * condition has failed or cannot be met any more.
 */
export async function waitFor(
  client: ApiClient,
  called: CalledResource,
  condition: WaitCondition,
  timeoutMs: number,
): Promise<void> {
  const signal = timeoutMs === 0 ? new AbortController().signal : AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS));
  let last: Resource | null | undefined;
  for await (const seen of watchResources(client, { ...called, labels: null }, signal)) {
    const latest = seen.at(-1);
    const now = latest === undefined || latest.type === 'removed' ? null : latest.resource;
    if (condition.isMet(now)) return;
    if (now === null) throw last === undefined ? await unknownCalled(called) : goneMeanwhile(called.shown);
    if (condition.isLost(now)) throw hasFailed(called.shown, now.status!.message);
    last = now;
    if (timeoutMs === 0) break;
  }
  throw waitedInVain(called.shown, condition.shown, stateText(last ?? null));
}

async function unknownCalled({ kind, shown, workspace }: CalledResource): Promise<Error> {
  const { listCommand } = await import('../../../control/resources/kinds.js');
  return notThere(shown, listCommand(kind, workspace));
}
