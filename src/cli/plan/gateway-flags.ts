import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { listFlag, stringFlag, timeFlag } from '../flags/kinds.js';
import { readDuration } from '../flags/read-list.js';

const { server: _, ...access } = serverFlags;

/** A plan for what a running gateway serves. */
export const gatewayPlanFlags = {
  gateway: stringFlag({
    default: null,
    placeholder: 'url',
    help: 'admin address of a running gateway: its recording, policy and latency profile are used, and it computes the plan',
  }),
  endpoint: {
    ...stringFlag({
      default: null,
      placeholder: 'name',
      defaultText: 'the only one of the gateway',
      help: 'endpoint whose fleet is planned',
    }),
    letter: 'e',
  },
  ...workspaceFlags,
  last: listFlag<number | null>({
    default: null,
    placeholder: 'duration',
    defaultText: '1h',
    accepted: "a duration with its unit, as in '30m' or '1h'",
    read: readDuration,
    help: 'only requests of this time up to --to',
  }),
  to: timeFlag({ defaultText: 'now', help: 'only requests that arrived before' }),
  ...access,
};
