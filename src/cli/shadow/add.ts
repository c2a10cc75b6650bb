import type { ShadowView } from '../../api/views/shadow-views.js';
import { ApiClient } from '../api/api-client.js';
import { serverFlags } from '../api/server-flags.js';
import { badValue } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { listFlag, stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { scorerNames } from '../flags/registered-names.js';
import type { CliIo } from '../io.js';
import { shadowSummaryOf } from './shadow.js';
import { endpointFlags, shadowsOf } from './shadow-flags.js';

const EXAMPLE = 'name=value, as in tie_break=random';

const addFlags = {
  name: stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: "the policy's",
    help: 'name of the shadow; needed for a second one of the same policy',
  }),
  option: {
    ...listFlag<Readonly<Record<string, unknown>>>({
      default: {},
      placeholder: 'name=value',
      accepted: EXAMPLE,
      read: readOptions,
      help: 'an option of the policy, repeated for each',
    }),
    repeats: true as const,
  },
  'routing-scorers': stringFlag({
    default: null,
    placeholder: 'list',
    suggestions: scorerNames,
    help: 'scorers and their weights for weighted: prefix-affinity:3,queue-depth:2',
  }),
  ...endpointFlags,
};

export const SHADOW_ADD: CommandLine = {
  name: 'shadow add',
  summary: shadowSummaryOf('add'),
  about:
    'The shadow sees every request and the same view of the fleet as the policy that serves, decides after the request is on its ' +
    "way, and changes nothing. 'twinyard shadow list' reports how often the two agree, 'twinyard explain' what it would have chosen " +
    'for a request. It uses at most a tenth of the processor time of the gateway; what does not fit is dropped and counted. It ' +
    "stays until it is removed or the gateway stops: put it under 'shadow' in the endpoint's policy to keep it.",
  operands: { usage: 'POLICY', least: 1, most: 1 },
  groups: [
    { title: 'Shadow', flags: addFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: [
    'shadow add lmetric',
    'shadow add weighted --routing-scorers prefix-affinity:3,queue-depth:2 --endpoint chat',
    'shadow add lmetric --name lmetric-first --option tie_break=first',
  ],
};

/** Adds a shadow, or changes one of the same name that was added. */
export async function addShadow(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof addFlags & typeof serverFlags>(SHADOW_ADD, argv);
  const policy = operands[0]!;
  const name = values.name ?? policy;
  const scorers = values['routing-scorers'];
  const options = { ...values.option, ...(scorers === null ? {} : { scorers }) };
  const { path, shown } = shadowsOf(values, io);
  const body = JSON.stringify({ policy, options });
  const added = await ApiClient.of(values, io).call<ShadowView>('PUT', `${path}/${encodeURIComponent(name)}`, { body });
  io.stdout.write(`shadow ${added.name} (${added.policy}) follows ${shown}, which ${added.serving_policy} serves\n`);
  return 0;
}

/** Numbers, true and false are read as such, everything else is text. */
function readOptions(text: string, place: string): Record<string, unknown> {
  const entries = text.split('\n').map((item): [string, unknown] => {
    const at = item.indexOf('=');
    if (at < 1) throw badValue(place, item, 'is not of the form name=value', EXAMPLE);
    return [item.slice(0, at).trim(), plainValue(item.slice(at + 1).trim())];
  });
  return Object.fromEntries(entries);
}

function plainValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
