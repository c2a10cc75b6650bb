import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { readProfileDocument } from '../../gateway/prediction/profile-document.js';
import { recordedArrivalUs } from '../../gateway/recording/recorded-files.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { FlowControlConfig, PolicyChoice } from '../../simulator/cluster-config.js';
import { noRequests } from '../../twin/whatif/errors.js';
import type { GatewayWorld } from '../../twin/whatif/whatif-question.js';
import { ApiClient } from '../api/api-client.js';
import { endpointOfFlag } from '../api/endpoint-of-flag.js';
import { serverLeft } from '../api/errors.js';
import { workspaceFor } from '../api/find-server.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import type { WhatIfFlags } from './whatif-flags.js';

const HOUR_US = 3_600_000_000;
/** Requests before those that are asked about fill caches: of a quarter of that time, of an hour at most. */
const WARM_UP = 0.25;

/** How requests were decided. */
export interface ServedSettings {
  routing: PolicyChoice;
  admission: PolicyChoice;
  flowControl: FlowControlConfig | null;
  sloPriorities: Record<string, number>;
  tenantBudgets: Record<string, number>;
}

/** What a gateway knows of the engines of an endpoint. */
export interface ServedEngines {
  /** Null: it serves none yet. */
  model: string | null;
  /** Of most replicas; null: none that is good enough. */
  profile: LatencyProfile | null;
  /** Different ones. */
  profiles: number;
}

/** What a gateway recorded, in a file that `close` removes, and how it is configured. */
export interface FetchedRecording {
  file: string;
  /** From the first request that is asked about to the last one; those before it fill caches. */
  lastUs: number;
  endpoint: string;
  served: ServedSettings;
  engines: ServedEngines;
  gateway: GatewayWorld;
  close(): void;
}

interface RecordingEvent extends Omit<ServedSettings, 'routing'> {
  endpoint: string;
  /** By the clock of the gateway. */
  nowUs: number;
  policy: PolicyChoice;
  engine: { model: string | null; profiles: number; profile: object | null };
  blockSize: number;
  signalsMs: number;
}

export async function fetchRecording(
  { values }: FlagValues<WhatIfFlags>,
  gateway: string,
  io: CliIo,
): Promise<FetchedRecording> {
  const access = { server: gateway, token: values.token, 'data-dir': values['data-dir'], context: values.context };
  const client = ApiClient.of(access, io);
  const called = await endpointOfFlag(client, values.endpoint, workspaceFor({ ...access, workspace: null }, io));
  const folder = mkdtempSync(join(tmpdir(), `twinyard-whatif-${process.pid}-`));
  const close = () => rmSync(folder, { recursive: true, force: true });
  io.beforeSignal(close);
  const file = join(folder, 'traffic.jsonl');
  try {
    const lastS = Math.ceil((values.last ?? HOUR_US) / 1e6);
    const wholeS = Math.ceil(lastS + Math.min(HOUR_US / 1e6, WARM_UP * lastS));
    const part: Record<string, string> =
      values.to === null ? { last: `${wholeS}s` } : { from: before(values.to, wholeS), to: values.to };
    const path = `/api/v1/workspaces/${encodeURIComponent(called.workspace)}/endpoints/${encodeURIComponent(called.name)}/recording`;
    const { facts, latestUs } = await download(client, path, part, file);
    const untilUs = values.to === null ? facts.nowUs : Date.parse(values.to) * 1000;
    const lastUs = latestUs - (untilUs - lastS * 1e6);
    if (lastUs < 0) throw noRequests(`recording of endpoint ${facts.endpoint}`);
    const { admission, engine, flowControl, policy: routing, sloPriorities, tenantBudgets } = facts;
    const profile = engine.profile === null ? null : readProfileDocument(engine.profile, `profile of ${client.url}`);
    return {
      file,
      lastUs,
      endpoint: facts.endpoint,
      served: { routing, admission, flowControl, sloPriorities, tenantBudgets },
      engines: { ...engine, profile },
      gateway: { signalsUs: facts.signalsMs * 1000, blockSize: facts.blockSize },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

const before = (time: string, seconds: number) => new Date(Date.parse(time) - 1000 * seconds).toISOString();

async function download(
  client: ApiClient,
  path: string,
  part: Readonly<Record<string, string>>,
  file: string,
): Promise<{ facts: RecordingEvent; latestUs: number }> {
  const out = createWriteStream(file, { mode: 0o600 });
  let facts: RecordingEvent | null = null;
  let latestUs = Number.NEGATIVE_INFINITY;
  try {
    for await (const { data, event } of client.events(path, part, new AbortController().signal)) {
      if (event === 'facts') facts = JSON.parse(data) as RecordingEvent;
      else if (event === 'request') {
        latestUs = Math.max(latestUs, recordedArrivalUs(data));
        if (!out.write(`${data}\n`)) await once(out, 'drain');
      } else if (event === 'end' && facts !== null) return { facts, latestUs };
    }
  } finally {
    out.end();
    await finished(out);
  }
  throw serverLeft(client.url);
}
