import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveApi } from '../../api/api-server.js';
import { configFor, type FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { recordingOf, served } from '../../twin/whatif/recorded-run.fixture.js';

/** The lines of a recording, moved to the time just before now. */
export function recentRecording(text: string): string {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number>);
  const shift = Date.now() * 1000 - Math.max(...lines.map(({ end_us }) => end_us!));
  const times = ['t_us', 'dispatch_us', 'first_token_us', 'end_us'];
  for (const line of lines) for (const key of times) line[key] = line[key]! + shift;
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

export interface RecordingGateway {
  readonly names: readonly string[];
  readonly isRecording?: boolean;
  /** What it recorded before it started; 240 requests with round-robin unless given. */
  readonly lines?: string;
}

/** A gateway with an API in front of one engine that recorded traffic a moment ago. @param after called with what ends it */
export async function recordingGateway(
  engine: FakeEngine,
  { isRecording = true, lines, names }: RecordingGateway,
  after: (close: () => unknown) => void,
): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-recording-'));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'traffic.jsonl');
  const run = () => recordingOf(served({ requests: 240 }, { routing: { policy: 'round-robin', options: {} } }));
  // As a file that was rotated: the gateway writes its own.
  writeFileSync(`${path}.1`, recentRecording(lines ?? run()));
  const config = configFor([engine], {
    ...{ store: join(folder, 'twinyard.db'), dataDir: folder },
    ...(isRecording ? { record: { path, maxBytes: 1e7, files: 2 } } : {}),
  });
  const [endpoint] = config.endpoints;
  const replicas = names.map((name) => endpoint!.replicas.map((one) => ({ ...one, id: `${name}-0` })));
  const endpoints = names.map((name, i) => ({ ...endpoint!, name, replicas: replicas[i]! }));
  const made = new Gateway({ ...config, endpoints });
  made.api = serveApi(made);
  await made.start();
  after(() => made.close(0));
  await until(() => made.isReady);
  return made;
}
