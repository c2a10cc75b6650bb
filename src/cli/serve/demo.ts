import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_ENGINE } from '../../engines/engine.js';
import type { Gateway as RunningGateway } from '../../gateway/gateway.js';
import type { ShadowChoice } from '../../policy/bundle/shadow-choice.js';
import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import { type InstanceFlags, instanceFlags } from '../flags/instance-flags.js';
import { count, registered, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { routingPolicyNames } from '../flags/registered-names.js';
import type { CliIo } from '../io.js';
import { tuneServer } from '../tune-v8.js';
import { engineFlags } from './engine-flags.js';
import { gatewayListenError } from './gateway-listen-error.js';

const MODEL = 'qwen/qwen3-14b';
const RECORD_BYTES = 50 * 1024 * 1024;

const demoFlags = {
  replicas: count({ default: 4, min: 1, max: 64, help: 'emulated engines behind the gateway' }),
  model: stringFlag({ default: null, placeholder: 'name', defaultText: MODEL, help: 'the model they serve' }),
  'routing-policy': registered({ default: 'unified', names: routingPolicyNames, help: 'how a replica is chosen' }),
  port: count({
    default: 8080,
    max: 65_534,
    help: 'port for clients, the next one for the admin API; free ports where these are in use',
  }),
  speed: engineFlags.speed,
  'demo-load': toggle({ help: 'send light, uneven traffic all the time, so that the console has something to show' }),
};

export const DEMO: CommandLine = {
  name: 'demo',
  summary: summaryOf('demo'),
  about:
    'Use it to try the gateway without GPUs: it prints commands to send a request and to see why it went to its replica.',
  groups: [{ title: 'System', flags: demoFlags }],
  examples: ['demo', 'demo --demo-load', 'demo --replicas 8 --routing-policy lmetric --speed 10'],
};

/** Starts engines and a gateway in one process and prints commands to try; stops them on SIGINT or SIGTERM. */
export async function demo(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof demoFlags>(DEMO, argv);
  const model = values.model ?? MODEL;
  const [
    { serveApi },
    { runLabTask },
    { DemoLoad },
    { resolveReplica },
    { startEngine },
    { Gateway },
    { DEFAULT_POLICY, GATEWAY_DEFAULTS },
    { startProfiles },
    { startEndpointEvents },
    { createDemoKeys },
  ] = await Promise.all([
    import('../../api/api-server.js'),
    import('../lab/run-lab-task.js'),
    import('./demo-load.js'),
    import('../config/resolve-replica.js'),
    import('../../emulator/start-engine.js'),
    import('../../gateway/gateway.js'),
    import('../../gateway/config/gateway-config.js'),
    import('../../twin/profiles/start-profiles.js'),
    import('../../gateway/history/endpoint-events.js'),
    import('./demo-keys.js'),
  ]);
  const line: CommandLine = { ...DEMO, groups: [{ title: 'Instance', flags: instanceFlags }] };
  const instance = await parseFlags<InstanceFlags>(line, ['--model', model]);
  const { config, latency } = resolveReplica(instance, null, createDiagnostics('warn', io));
  tuneServer();
  const stopped = io.untilStopped();
  const engines = await Promise.all(
    Array.from({ length: values.replicas }, (_, i) => startEngine({ config, latency, speed: values.speed, seed: i })),
  );
  // With a store the console has keys, usage and a recording to show; all of it goes when the demo ends.
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-demo-'));
  const start = async (port: number, adminPort: number): Promise<{ gateway: RunningGateway; link: () => string }> => {
    const gateway = new Gateway({
      ...GATEWAY_DEFAULTS,
      listen: { ...GATEWAY_DEFAULTS.listen, port },
      admin: { ...GATEWAY_DEFAULTS.admin, port: adminPort },
      store: join(folder, 'twinyard.db'),
      dataDir: folder,
      // Commands of the documentation have none.
      access: { ...GATEWAY_DEFAULTS.access, keys: 'optional' },
      record: { path: join(folder, 'traffic.jsonl'), maxBytes: RECORD_BYTES, files: 1 },
      prices: [{ model, input: 0.2, cachedInput: 0.05, output: 0.8 }],
      endpoints: [
        {
          name: 'default',
          policy: { ...DEFAULT_POLICY, name: values['routing-policy'], shadows: [shadowOf(values['routing-policy'])] },
          replicas: engines.map(({ url }, i) => ({ id: `engine-${i}`, url, engine: DEFAULT_ENGINE, models: null })),
        },
      ],
    });
    const api = serveApi(gateway, null, runLabTask);
    gateway.api = api;
    try {
      await gateway.start();
    } catch (error) {
      await gateway.close(0);
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && port !== 0) return start(0, 0);
      throw gatewayListenError(error, gateway.config);
    }
    return { gateway, link: () => `${api.loginLink()}&tour` };
  };
  try {
    const { gateway, link } = await start(values.port, values.port === 0 ? 0 : values.port + 1);
    const profiles = startProfiles(gateway);
    const events = startEndpointEvents(gateway);
    const keys = await createDemoKeys(gateway.store!);
    io.stdout.write(whatToTry(gateway, link(), model, engines.length));
    const load = values['demo-load'] ? new DemoLoad({ url: gateway.url, model, keys }) : null;
    await stopped;
    await load?.stop();
    await events.close();
    await profiles.close();
    await gateway.close(1000);
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

/** A policy that decides beside the one that serves, so that there is something to compare. */
function shadowOf(serving: string): ShadowChoice {
  const policy = serving === 'lmetric' ? 'unified' : 'lmetric';
  return { name: policy, policy, options: {} };
}

function whatToTry(gateway: RunningGateway, link: string, model: string, count: number): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Why this replica?' }], max_tokens: 24 });
  return `Twinyard is up: ${count} emulated replicas of ${model} behind ${gateway.url}. Ctrl-C stops everything.

Open the console; the link logs in, once, within 15 minutes:
  ${link}
After that, log in at ${gateway.adminUrl}/ with the admin token:
  ${gateway.adminToken}

Send a request; the response headers name the replica:
  curl -i ${gateway.url}/v1/chat/completions -H 'content-type: application/json' -H 'x-request-id: first' -d '${body}'

Print why that replica was chosen:
  npx twinyard explain first --server ${gateway.adminUrl} --token ${gateway.adminToken}

List replicas and metrics:
  curl ${gateway.adminUrl}/api/v1/replicas -H 'authorization: Bearer ${gateway.adminToken}'
  curl ${gateway.adminUrl}/metrics
`;
}
