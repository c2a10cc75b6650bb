import { beforeEach, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { VIEWER_TOKEN } from './control-server.fixture.js';
import { inControlYard, printed, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

describe('events', () => {
  const happen = async (reason: string, kind = 'Endpoint', name = 'chat') => {
    const ref = { kind, workspace: kind === 'Engine' ? '' : 'default', name };
    const record = (await server.host.store.resources.get(ref))!;
    await server.host.store.events.add(record, 'normal', reason, 'm');
  };
  const reasons = (text: string) =>
    text
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(/ {2,}/)[3]);

  beforeEach(() => printed('apply -f chat.yaml'));

  it('lists events, the oldest first', async () => {
    expect((await twinyard('events')).stderr).toBe('twinyard: no events\n');
    for (const reason of ['Created', 'Started']) await happen(reason);
    await happen('Installed', 'Engine', 'emulator');
    expect(await printed('events')).toMatch(
      /^LAST SEEN +TYPE +RESOURCE +REASON +COUNT +MESSAGE\n\d{4}-.* normal +Endpoint default\/chat +Created +1 +m\n/,
    );
    expect(reasons(await printed('events'))).toEqual(['Created', 'Started']);
    expect(reasons(await printed('events -A'))).toEqual(['Created', 'Started', 'Installed']);
    expect(reasons(await printed('events endpoint chat --limit 1'))).toEqual(['Started']);
    expect(reasons(await printed('events engine'))).toEqual(['Installed']);
    expect(JSON.parse(await printed('events engine -o json'))).toMatchObject([{ reason: 'Installed' }]);
  });

  it('lists events of a deleted resource of the same name only with --former', async () => {
    await happen('Before');
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    await printed('apply -f chat.yaml');
    await happen('After');
    expect(reasons(await printed('events endpoint chat'))).toEqual(['After']);
    expect(await printed('describe endpoint chat')).not.toContain('Before');
    expect(reasons(await printed('events endpoint chat --former'))).toEqual(['Before', 'After']);
  });

  it('prints new events with --watch', async () => {
    await happen('Created');
    const [table, lines] = [started('events --watch'), started('events endpoint chat --watch -o json')];
    await streaming(2);
    await happen('Started');
    for (const one of [table, lines]) {
      await one.until('Started');
      one.stop();
      expect([await one.ended, one.io.stderrText()]).toEqual([0, '']);
    }
    expect(reasons(table.io.stdoutText())).toEqual(['Created', 'Started']);
    expect(
      lines.io
        .stdoutText()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).reason),
    ).toEqual([...['Created', 'Started']]);
  });

  it('continues with --watch after a restart of the server, with no event twice', async () => {
    await happen('Created');
    const watching = started('events --watch');
    await streaming(1);
    await happen('Started');
    await watching.until('Started');
    await server.hangUp();
    await watching.untilError('connection lost, trying again');
    await happen('Meanwhile');
    await server.listen();
    await watching.until('Meanwhile');
    await happen('Later');
    await watching.until('Later');
    watching.stop();
    expect(await watching.ended).toBe(0);
    expect(reasons(watching.io.stdoutText())).toEqual(['Created', 'Started', 'Meanwhile', 'Later']);
    expect(watching.io.stderrText().match(/connection lost/g)).toHaveLength(1);
  });

  it('lists who changed what with --audit', async () => {
    await printed('scale endpoint chat --replicas 5');
    await printed('delete endpoint chat');
    expect((await printed('events endpoint chat --audit')).replace(/^[\d-]+ [\d:]+/gm, 'T')).toBe(
      `T  admin  create  Endpoint default/chat
T  admin  update  Endpoint default/chat
  spec.replicas: 3 -> 5
T  admin  delete  Endpoint default/chat
`,
    );
    expect(JSON.parse(await printed('events --audit --limit 1 -o json'))).toMatchObject([{ action: 'delete' }]);
    expect(await printed('events --audit --actor control-plane -n default')).toBe('');
    expect(await printed('events engine --audit')).toContain('control-plane  create  Engine vllm');
    const spied = await twinyard(`events --audit --token ${VIEWER_TOKEN}`);
    expect(spied).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('requires the role admin in some workspace'),
    });
  });

  it.each([
    ['--audit --watch', '--watch: is given together with --audit'],
    ['--actor x', '--actor: is given without --audit'],
    ['-A -n x', '--workspace: is given together with --all-workspaces'],
    ['--former', '--former: is given without a name'],
    ['endpoint none', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['pods', "KIND: unknown kind 'pods'"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`events ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
