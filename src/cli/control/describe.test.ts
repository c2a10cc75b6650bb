import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, inControlYard, printed, REF, server } from './control-yard.fixture.js';

inControlYard();

describe('describe', () => {
  it('prints metadata, specification, status, replicas and events', async () => {
    await printed('apply -f chat.yaml');
    const since = '2026-01-31T18:00:00.000Z';
    await server.say('chat', 'Failed', {
      ready: 0,
      message: 'a replica has crashed',
      conditions: [{ type: 'Ready', status: false, reason: 'Crashed', message: 'exit code 1', since }],
      replicas: [{ id: 'chat-1', phase: 'exited', generation: 1, url: 'http://127.0.0.1:2', restarts: 4, message: '' }],
      last_lines: ['no such model', 'bye\u001b[2J'],
    });
    const record = (await server.host.store.resources.get(REF))!;
    await server.host.store.events.add(record, 'warning', 'Crashed', 'exit code 1\nbye');
    const page = await printed('describe endpoint chat');
    expect(page.replace(/\d+s ago/, '0s ago').replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?! {2}Crashed)/g, 'T')).toBe(
      `Kind:        Endpoint
Name:        chat
Workspace:   default
Labels:      none
Created:     T UTC, 0s ago
Generation:  1, observed 1
Version:     ${record.resourceVersion}
Phase:       Failed
Message:     a replica has crashed

Spec:
  cluster: local
  engine:
    name: emulator
  model:
    name: qwen/qwen3-14b
    task: text-generation
  resources:
    gpus: 0
  replicas: 3
  placement: pack
  variables: {}
  env: {}
  secret_env: {}
  json_patches: []
  deployment:
    startup_timeout_s: 1800
    drain_timeout_s: 30
    max_surge: 1
    max_unavailable: 0

Status:
  ready: 0

Conditions:
  TYPE   HOLDS  SINCE                REASON   MESSAGE
  Ready  no     2026-01-31 18:00:00  Crashed  exit code 1

Replicas:
  ID      PHASE   GENERATION  RESTARTS  URL                 MESSAGE
  chat-1  exited  1           4         http://127.0.0.1:2

Last lines:
  no such model
  bye?[2J

Events:
  LAST SEEN            TYPE     REASON   COUNT  MESSAGE
  T  warning  Crashed  1      exit code 1 | bye
`,
    );
  });

  it('prints the latency profiles of the engines, how good they are and why nothing is predicted', async () => {
    await printed('apply -f chat.yaml');
    const fitted = { engine: 'vllm@H100', name: 'chat/vllm@H100', used: true, pinned: true };
    const score = { ttft: 0.08, itl: 0.0312, e2e: 0.05, requests: 40 };
    await server.say('chat', 'Running', {
      profiles: [
        { ...fitted, fitted_at: new Date().toISOString(), score, drift: '', problem: '' },
        {
          ...fitted,
          engine: 'vllm',
          name: null,
          pinned: false,
          fitted_at: null,
          score: null,
          drift: '',
          problem: 'no requests yet',
        },
      ],
    });
    const page = await printed('describe endpoint chat');
    expect(page).toMatch(/\nProfiles:\n {2}ENGINE +PROFILE +AGE +PINNED +ERROR OF TTFT, ITL, E2E\n/);
    expect(page).toMatch(/\n {2}vllm@H100 +chat\/vllm@H100 +\d+s +yes +8 %, 3.1 %, 5 %\n/);
    expect(page).toMatch(/\n {2}vllm +- +- +no +-\n/);
    expect(page).toMatch(/\n {2}vllm +no requests yet\n/);
  });

  it('prints several, or all of a kind', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}`);
    await printed('apply -f two.yaml');
    const names = async (args: string) => (await printed(`describe ${args}`)).match(/(?<=^Name: +)\S+/gm);
    expect(await names('ep b a')).toEqual(['b', 'a']);
    expect(await names('ep')).toEqual(['a', 'b']);
    expect((await twinyard('describe ep -l a=b')).stderr).toBe('twinyard: no resources were selected\n');
  });

  it('shows memory with its unit', async () => {
    const ref = { kind: 'Cluster', workspace: '', name: 'local' };
    const { uid } = (await server.host.store.get(ref))!.metadata;
    const gpu = { id: '0', product: 'H100', memory_mib: 81_920, free: 1 };
    const memory = { memory_bytes: 16.5 * 2 ** 30, free_memory_bytes: 2 ** 30 };
    await server.host.store.putStatus(ref, uid!, { phase: 'Ready', ...memory, accelerators: [gpu] });
    const page = await printed('describe cluster local');
    expect(page).toContain('  memory: 16.5 GiB\n  free_memory: 1.0 GiB\n');
    expect(page).toContain('      memory: 80.0 GiB\n');
  });

  it('prints a resource without a status, and one that is being deleted', async () => {
    await printed('apply -f chat.yaml');
    expect(await printed('describe ep chat')).toMatch(
      /^Generation: +1\n.*\nPhase: +unknown\n\nSpec:\n[\s\S]*\nEvents:\n {2}none\n$/m,
    );
    await printed('delete ep chat');
    expect(await printed('describe ep chat')).toMatch(/^Deleted: +\d{4}-.* UTC, \d+s ago$/m);
    expect(await printed('describe engine emulator')).toMatch(/^Labels: +twinyard\/built-in=true$/m);
    expect((await twinyard('describe ep none')).code).toBe(2);
  });
});
