import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../program.js';
import { testIo, captured as twinyard } from '../test-io.fixture.js';
import { endpoint, head, inControlYard, printed, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

describe('wait', () => {
  beforeEach(() => printed('apply -f chat.yaml'));

  it.each([
    ['ready', 'ready'],
    ['phase=Running', 'Running'],
    ['phase=running', 'Running'],
  ])('for %s', async (condition, said) => {
    await server.say('chat', 'Pending');
    const waiting = started(`wait endpoint chat --for ${condition}`);
    await streaming(1);
    await server.say('chat', 'Running', { ready: 3 });
    expect(await waiting.ended).toBe(0);
    expect(waiting.io.stdoutText()).toBe(`Endpoint default/chat is ${said}\n`);
  });

  it.each([
    ['condition=Ready', 'Ready'],
    ['condition=ready=true', 'ready'],
    ['condition=Stalled=false', 'Stalled=false'],
    ['jsonpath={.status.phase}=Running', 'Running at {.status.phase}'],
    ["jsonpath='{.status.phase}'=Running", "Running at '{.status.phase}'"],
    ['jsonpath={.status.ready}=3', '3 at {.status.ready}'],
    ['jsonpath=.status.url', 'set at .status.url'],
  ])('for %s', async (condition, said) => {
    await server.say('chat', 'Pending', {
      conditions: [{ type: 'Ready', status: false, since: '2030-01-31T00:00:00Z' }],
    });
    const waiting = started(`wait ep/chat --for ${condition}`);
    await streaming(1);
    const since = '2030-01-31T00:00:00Z';
    const conditions = ['Ready', 'Stalled'].map((type) => ({ type, status: type === 'Ready', since }));
    await server.say('chat', 'Running', { ready: 3, conditions, url: 'http://127.0.0.1:1' });
    expect(await waiting.ended).toBe(0);
    expect(waiting.io.stdoutText()).toBe(`Endpoint default/chat is ${said}\n`);
  });

  it('for several, named or selected', async () => {
    writeFileSync('other.yaml', endpoint('', 'other').replace('name: other', 'name: other, labels: {team: x}'));
    await printed('apply -f other.yaml');
    await server.say('chat', 'Running', { ready: 3 });
    const waiting = started('wait ep/chat ep/other --for ready');
    await waiting.until('Endpoint default/chat is ready\n');
    await streaming(1);
    await server.say('other', 'Running', { ready: 1 });
    expect(await waiting.ended).toBe(0);
    expect(waiting.io.stdoutText()).toBe('Endpoint default/chat is ready\nEndpoint default/other is ready\n');
    expect(await printed('wait ep --all --for ready --timeout 0')).toBe(waiting.io.stdoutText());
    expect(await printed('wait ep -l team=x --for ready --timeout 0')).toBe('Endpoint default/other is ready\n');
    expect(await twinyard('wait ep -l team=y --for ready')).toMatchObject({
      ...{ code: 1, stderr: 'twinyard: no resources were selected\n' },
    });
  });

  it('for resources without a workspace', async () => {
    writeFileSync('space.yaml', `${head('Workspace', 'search')}spec: {}\n`);
    await printed('apply -f space.yaml');
    const waiting = started('wait ws/search --for delete');
    await streaming(1);
    await printed('delete ws search');
    await server.takeDown('search', 'Workspace');
    expect(await waiting.ended).toBe(0);
    expect(waiting.io.stdoutText()).toBe('Workspace search is deleted\n');
  });

  it('counts the time that is left in whole milliseconds', async () => {
    await server.say('chat', 'Running', { ready: 3 });
    let now = 0.25;
    const io = { ...testIo(), now: () => (now += 0.3) };
    expect(await main('wait ep/chat ep/chat --for ready --timeout 5s'.split(' '), io)).toBe(0);
  });

  it('for an end, which may have come already', async () => {
    const waiting = started('wait endpoint chat --for deleted');
    await streaming(1);
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    expect(await waiting.ended).toBe(0);
    expect(await printed('wait endpoint chat --for delete')).toBe('Endpoint default/chat is deleted\n');
  });

  it('is not content with what was said of an older edition', async () => {
    await server.say('chat', 'Running', { ready: 3 });
    expect(await printed('wait endpoint chat --for ready --timeout 0')).toBe('Endpoint default/chat is ready\n');
    await printed('apply -f five.yaml');
    expect(await twinyard('wait endpoint chat --for ready --timeout 0')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'twinyard: Endpoint default/chat: not ready in time; it is Running\n',
    });
  });

  it('prints the state when the time is over', async () => {
    expect((await twinyard('wait ep chat --for ready --timeout 0')).stderr).toContain('it has no status yet');
    await server.say('chat', 'Pending', { message: 'no room' });
    expect(await twinyard('wait ep chat --for phase=Running --timeout 1')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'twinyard: Endpoint default/chat: not Running in time; it is Pending: no room\n',
    });
  });

  it('ends when it has failed, unless that is what is waited for', async () => {
    await server.say('chat', 'Pending');
    const waiting = started('wait endpoint chat --for ready');
    await streaming(1);
    await server.say('chat', 'Failed', { message: 'exited with code 1' });
    expect(await waiting.ended).toBe(1);
    expect(waiting.io.stderrText()).toBe('twinyard: Endpoint default/chat: has failed: exited with code 1\n');
    expect(await printed('wait ep chat --for phase=Failed')).toBe('Endpoint default/chat is Failed\n');
    // What was said of an older edition does not count.
    await printed('apply -f five.yaml');
    expect((await twinyard('wait ep chat --for ready --timeout 0')).stderr).toContain(
      'not ready in time; it is Failed',
    );
  });

  it('outlives a server that is started again', async () => {
    const waiting = started('wait endpoint chat --for ready');
    await streaming(1);
    await server.hangUp();
    await server.say('chat', 'Running', { ready: 3 });
    await server.listen();
    expect(await waiting.ended).toBe(0);
  });

  it('ends when there is nothing left to wait for', async () => {
    const gone = started('wait endpoint chat --for ready');
    await streaming(1);
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    expect(await gone.ended).toBe(1);
    expect(gone.io.stderrText()).toBe('twinyard: Endpoint default/chat: was deleted meanwhile\n');
  });

  it.each([
    ['endpoint chat', '--for: is required'],
    ['endpoint', 'KIND/NAME...: is required'],
    ['endpoint none --for ready', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    [
      'endpoint chat --for Running',
      "--for: 'Running' cannot be waited for; give 'ready', 'delete', 'condition=Ready', a phase",
    ],
    ['endpoint chat --for phase=Runing', "did you mean 'Running'?"],
    [
      'endpoint chat --for ready --timeout soon',
      "--timeout: 'soon' is not a duration; give seconds, or a duration as in '20s' or '5m'",
    ],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`wait ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
