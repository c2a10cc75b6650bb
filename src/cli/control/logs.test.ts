import { beforeEach, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { inControlYard, printed, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

describe('logs', () => {
  beforeEach(async () => {
    await printed('apply -f chat.yaml');
    server.runner.start('chat-a', 'default/chat', 'one', '\u001b[32mtwo\u001b[0m\u0007\tx');
    server.runner.start('chat-b', 'default/chat', 'three');
  });

  it('prints lines with their replica, without control characters', async () => {
    expect(await printed('logs endpoint chat')).toBe('[chat-a] one\n[chat-a] two?\tx\n[chat-b] three\n');
    expect(await printed('logs endpoint chat --replica chat-a --tail 1')).toBe('two?\tx\n');
  });

  it('follows new lines', async () => {
    const following = started('logs endpoint chat --follow --tail 0');
    await streaming(1);
    server.runner.write('chat-b', 'four');
    await following.until('[chat-b] four\n');
    following.stop();
    expect([await following.ended, following.io.stderrText()]).toEqual([0, '']);
    await streaming(0);
  });

  it('continues with --follow after a restart of the server, with no line twice', async () => {
    const following = started('logs endpoint chat --follow --tail 1');
    await following.until('three');
    await server.hangUp();
    await following.untilError('connection lost, trying again');
    server.runner.write('chat-b', 'three');
    server.runner.start('chat-c', 'default/chat', 'started meanwhile');
    await server.listen();
    await following.until('started meanwhile');
    server.runner.write('chat-a', 'later');
    await following.until('later');
    following.stop();
    expect(await following.ended).toBe(0);
    const lines = following.io.stdoutText().trimEnd().split('\n').sort();
    expect(lines).toEqual([
      ...['[chat-a] later', '[chat-a] two?\tx', '[chat-b] three', '[chat-b] three', '[chat-c] started meanwhile'],
    ]);
    expect(following.io.stderrText().match(/connection lost/g)).toHaveLength(1);
  });

  it('reports a server that is not there at first', async () => {
    await server.hangUp();
    expect(await started('logs endpoint chat --follow').ended).toBe(1);
    await server.listen();
  });

  it('prints lines since a time, and those of the replica that ended last', async () => {
    expect((await twinyard('logs ep/chat --previous')).stderr).toContain(
      '--previous: no replica of the endpoint has ended',
    );
    const before = Date.now();
    expect(await printed('logs ep/chat --since 10m --replica chat-b')).toBe('three\n');
    const [since] = server.runner.since;
    expect(since).toBeGreaterThanOrEqual(before - 600_000);
    expect(since).toBeLessThanOrEqual(Date.now() - 600_000);
    expect(await printed('logs ep/chat --tail=-1 --replica chat-b')).toBe('three\n');
    expect(server.runner.since).toEqual([since, 0]);
    server.runner.exit('chat-a');
    expect(await printed('logs ep/chat -p --tail 1')).toBe('[chat-a] two?\tx\n');
    expect(await printed('logs ep/chat -p -f --replica chat-a')).toBe('one\ntwo?\tx\n');
  });

  it.each([
    ['endpoint chat --replica x', "--replica: no replica 'x'; known: chat-a, chat-b"],
    ['endpoint chat --since 5', "--since: '5' has no unit"],
    ['endpoint chat --since 5m --previous', '--since: is given together with --previous'],
    ['endpoint chat --tail -2', '--tail'],
    ['engine emulator', "KIND: 'engine' has no replicas"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`logs ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
