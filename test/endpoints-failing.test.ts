import { expect, test } from 'vitest';
import { ControlApi, endpointOf, lineEngine } from './support/control-api.js';
import { EndpointYard } from './support/endpoint-yard.js';
import { question } from './support/engine-fixture.js';

async function opened() {
  const yard = new EndpointYard();
  await yard.start();
  const ask = async (endpoint: string, model: string) => {
    const path = `/workspace/default/endpoint/${endpoint}/v1/chat/completions`;
    const body = JSON.stringify({ ...question('hello', { max_tokens: 2 }), model });
    const response = await fetch(yard.serve.url + path, { method: 'POST', body });
    return {
      status: response.status,
      text: await response.text(),
      replica: response.headers.get('x-twinyard-replica'),
    };
  };
  return { yard, api: new ControlApi(yard), ask };
}

const emulated = (replicas: number, variables: object) =>
  endpointOf('chat', 'emulator', { model: { name: 'qwen/qwen3-14b', serve_as: 'tiny' }, replicas, variables });

test('an engine that cannot start makes its endpoint fail, with its last lines', async () => {
  const { api, ask } = await opened();
  const script = "console.log('loads weights'); console.error('out of cheese'); process.exitCode = 7";
  await api.apply(lineEngine('crashing', script), endpointOf('chat', 'crashing', { replicas: 1 }));
  const { last_lines, message } = await api.until('chat', ({ last_lines = [], phase }) => {
    return phase === 'Failed' && last_lines.length > 0;
  });
  expect(message).toMatch(/^0 of 1 replicas are ready: a replica exited with code 7(; next attempt at [\d:]+ UTC)?$/);
  expect(last_lines).toEqual(['loads weights', 'out of cheese']);
  await api.until('chat', ({ message }) => message.includes('next attempt at'));
  const { status, text } = await ask('chat', 'm');
  expect([status, text]).toEqual([503, expect.stringContaining('its replicas keep failing')]);
});

test('an update that does not become ready leaves the old replicas serving, and can be undone', async () => {
  const { api, ask, yard } = await opened();
  await api.apply(emulated(2, { seed: 1 }));
  const before = (await api.untilPhase('chat', 'Running')).replicas.map(({ id }) => id);

  await api.apply(emulated(2, { seed: 1, model_config_folder: '/there/is/no/such/folder' }));
  const stuck = await api.until('chat', ({ message, phase }) => phase === 'Degraded' && message.includes('exited'));
  expect(stuck.message).toMatch(
    /^2 of 2 replicas are ready, 2 are not updated yet: a replica exited with code 2(; next attempt at [\d:]+ UTC)?$/,
  );
  expect(stuck.last_lines!.join()).toContain('/there/is/no/such/folder');
  for (let i = 0; i < 10; i++) {
    const { replica, status } = await ask('chat', 'tiny');
    expect([status, before.includes(replica!)]).toEqual([200, true]);
  }

  await api.apply(emulated(2, { seed: 1 }));
  const after = await api.until('chat', ({ phase, replicas }) => phase === 'Running' && replicas.length === 2);
  expect(after.replicas.map(({ id }) => id)).toEqual(before);
  expect(new Set((await yard.processes()).map(({ replica }) => replica))).toEqual(new Set(before));

  await api.apply(emulated(0, { seed: 1 }));
  await api.until('chat', ({ phase, replicas }) => phase === 'Paused' && replicas.length === 0);
  const { status, text } = await ask('chat', 'tiny');
  expect([status, text]).toEqual([503, expect.stringContaining('it is paused')]);
});

test('a replica that hangs gets no requests until it responds again', async () => {
  const { api, ask, yard } = await opened();
  await api.apply(emulated(2, { seed: 1 }));
  const [hung, well] = (await api.untilPhase('chat', 'Running')).replicas.map(({ id }) => id) as [string, string];
  const signal = async (name: NodeJS.Signals) => {
    for (const { pid, replica } of await yard.processes()) if (replica === hung) process.kill(pid, name);
  };
  await signal('SIGSTOP');
  const { message, ready } = await api.untilPhase('chat', 'Degraded');
  expect([ready, message]).toEqual([1, `1 of 2 replicas are ready: replica ${hung} fails its health check`]);
  for (let i = 0; i < 6; i++) expect(await ask('chat', 'tiny')).toMatchObject({ status: 200, replica: well });
  await signal('SIGCONT');
  expect((await api.untilPhase('chat', 'Running')).replicas.map(({ id }) => id)).toEqual([hung, well]);
});
