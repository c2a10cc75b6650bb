import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { FlowControlConfig, PolicyChoice } from '../../simulator/cluster-config.js';
import type { GatewayWorld } from '../../twin/whatif/whatif-question.js';
import { ApiClient } from '../api/api-client.js';
import { endpointOfFlag } from '../api/endpoint-of-flag.js';
import { serverLeft } from '../api/errors.js';
import { workspaceFor } from '../api/find-server.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import type { WhatIfFlags } from './whatif-flags.js';

const HOUR_US = 3_600_000_000;

/** How requests were decided. */
export interface ServedSettings {
  routing: PolicyChoice;
  admission: PolicyChoice;
  flowControl: FlowControlConfig | null;
}

/** What a gateway recorded, in a file that `close` removes, and how it is configured. */
export interface FetchedRecording {
  file: string;
  endpoint: string;
  served: ServedSettings;
  gateway: GatewayWorld;
  close(): void;
}

interface RecordingEvent {
  endpoint: string;
  policy: PolicyChoice;
  admission: PolicyChoice;
  flowControl: FlowControlConfig | null;
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
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-whatif-'));
  const close = () => rmSync(folder, { recursive: true, force: true });
  io.beforeSignal(close);
  const file = join(folder, 'traffic.jsonl');
  try {
    const last = `${Math.ceil((values.last ?? HOUR_US) / 1e6)}s`;
    const path = `/api/v1/workspaces/${encodeURIComponent(called.workspace)}/endpoints/${encodeURIComponent(called.name)}/recording`;
    const { facts, requests } = await download(client, path, last, file);
    if (requests === 0) {
      const problem = `the gateway has recorded no request of ${facts.endpoint} in the last ${last}`;
      throw conflictingFlags('--last', problem, 'choose a longer time, or wait for requests');
    }
    return {
      file,
      endpoint: facts.endpoint,
      served: { routing: facts.policy, admission: facts.admission, flowControl: facts.flowControl },
      gateway: { signalsUs: facts.signalsMs * 1000, blockSize: facts.blockSize },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function download(
  client: ApiClient,
  path: string,
  last: string,
  file: string,
): Promise<{ facts: RecordingEvent; requests: number }> {
  const out = createWriteStream(file, { mode: 0o600 });
  let facts: RecordingEvent | null = null;
  let requests = 0;
  try {
    for await (const { data, event } of client.events(path, { last }, new AbortController().signal)) {
      if (event === 'facts') facts = JSON.parse(data) as RecordingEvent;
      else if (event === 'request') {
        requests++;
        if (!out.write(`${data}\n`)) await once(out, 'drain');
      } else if (event === 'end' && facts !== null) return { facts, requests };
    }
  } finally {
    out.end();
    await finished(out);
  }
  throw serverLeft(client.url);
}
