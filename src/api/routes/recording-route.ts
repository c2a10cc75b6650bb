import { endpoint } from '../../control/resources/kinds/endpoint.js';
import { profileDocument } from '../../gateway/prediction/profile-document.js';
import { recordedLines } from '../../gateway/recording/recorded-lines.js';
import { parseDuration } from '../../kernel/text/duration.js';
import { field, text, time } from '../../schema/fields.js';
import { type ApiRoute, defineRoute } from '../api-route.js';
import { badQuery, notRecording, tooManyStreams } from '../errors.js';
import { knownEngine } from '../gateway/known-engine.js';
import { liveEndpoint } from '../gateway/live-endpoints.js';
import { untilEnd } from '../open-streams.js';

const LAST = '1h';

/** Lengths, times and hashes of what an endpoint served: enough to replay it, and no text. */
export const RECORDING_ROUTE: ApiRoute = defineRoute({
  method: 'GET',
  path: `/api/v1/workspaces/{workspace}/${endpoint.plural}/{name}/recording`,
  // Who asked for what, when and how much: more than a viewer of an endpoint needs.
  role: 'operator',
  scope: 'workspace',
  summary: 'Stream the recorded requests of an endpoint: lengths, times and hashed blocks, never text',
  query: {
    last: field(text(40), { default: LAST, help: "requests of the last so long, such as '1h'" }),
    from: field(time, { help: 'requests that arrived then or later, instead of last' }),
    to: field(time, { help: 'requests that arrived before; now if absent' }),
  },
  response: { type: 'stream' },
  handle({ gateway }, { params, query, signal }) {
    const served = liveEndpoint(gateway, { workspace: params.workspace!, name: params.name! });
    const us = parseDuration(query.last);
    if (us === null) throw badQuery('last', 'is not a duration', "give one such as '30m' or '1h'");
    const { record } = gateway.config;
    if (record === null || record.path === '-') throw notRecording();
    const { from, to } = query;
    const nowUs = gateway.epochUs + gateway.nowMs() * 1000;
    const leastUs = gateway.former.untilUs(params.workspace!);
    const sinceUs = Math.max(leastUs, from === undefined ? nowUs - us : Date.parse(from) * 1000);
    const untilUs = to === undefined ? undefined : Date.parse(to) * 1000;
    const lines = recordedLines(record.path, served.name, sinceUs, untilUs);
    const { admission, blockSize, flowControl, name, options, sloPriorities, tenantBudgets } = served.policy;
    const { model, profile, profiles } = knownEngine(served);
    const facts = {
      endpoint: served.name,
      nowUs,
      policy: { policy: name, options },
      ...{ admission, flowControl, blockSize, signalsMs: gateway.config.signals.intervalMs },
      ...{ sloPriorities, tenantBudgets },
      engine: { model, profiles, profile: profile === null ? null : profileDocument(profile) },
    };
    return { status: 200 as const, stream: untilEnd(recordingStream(facts, lines), signal, begin(record.path)) };
  },
});

/** Streams that read a recording, by its path: each reads all of it. */
const readers = new Map<string, number>();
const MOST_READERS = 2;

/** Counts a reader; returns what ends it, which may be called more than once. Throws when there are too many. */
function begin(path: string): () => void {
  const count = readers.get(path) ?? 0;
  if (count >= MOST_READERS) throw tooManyStreams('recording', count);
  readers.set(path, count + 1);
  let isOpen = true;
  return () => {
    if (isOpen) readers.set(path, readers.get(path)! - 1);
    isOpen = false;
  };
}

/** Server-sent events: how requests were decided, each request, and `end` after the last one. */
async function* recordingStream(facts: object, lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield `event: facts\ndata: ${JSON.stringify(facts)}\n\n`;
  for await (const line of lines) yield `event: request\ndata: ${line}\n\n`;
  yield 'event: end\ndata: {}\n\n';
}
