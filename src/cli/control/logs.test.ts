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
    expect(await printed('logs endpoint chat --replica chat-a --lines 1')).toBe('two?\tx\n');
  });

  it('follows new lines', async () => {
    const following = started('logs endpoint chat --follow --lines 0');
    await streaming(1);
    server.runner.write('chat-b', 'four');
    await following.until('[chat-b] four\n');
    following.stop();
    expect([await following.ended, following.io.stderrText()]).toEqual([0, '']);
    await streaming(0);
  });

  it('reports that the stream of the server ended', async () => {
    const following = started('logs endpoint chat --follow --lines 1');
    await following.until('three');
    await server.hangUp();
    expect(await following.ended).toBe(1);
    expect(following.io.stderrText()).toContain(server.url);
    await server.listen();
  });

  it.each([
    ['endpoint chat --replica x', "--replica: no replica 'x'; known: chat-a, chat-b"],
    ['engine emulator', "KIND: 'engine' has no replicas"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`logs ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
