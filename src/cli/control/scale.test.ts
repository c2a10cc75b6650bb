import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, inControlYard, printed, REF, server } from './control-yard.fixture.js';

inControlYard();

describe('scale', () => {
  it('changes the number, and prints it', async () => {
    await printed('apply -f chat.yaml');
    expect(await printed('scale endpoint chat --replicas 5')).toBe(
      'Endpoint default/chat changed\n  spec.replicas: 3 -> 5\n',
    );
    expect(await printed('scale endpoint chat --replicas 5')).toBe('Endpoint default/chat unchanged\n');
    expect((await server.host.store.get(REF))!.spec.replicas).toBe(5);
  });

  it('takes several endpoints, named or selected', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}`);
    await printed('apply -f two.yaml');
    const changed = (from: number, to: number) =>
      ['a', 'b'].map((name) => `Endpoint default/${name} changed\n  spec.replicas: ${from} -> ${to}\n`).join('');
    expect(await printed('scale ep a b --replicas 2')).toBe(changed(1, 2));
    expect(await printed('scale ep --all --replicas 0')).toBe(changed(2, 0));
    expect((await twinyard('scale ep -l a=b --replicas 0')).stderr).toBe('twinyard: no resources were selected\n');
  });

  it.each([
    ['endpoint chat', '--replicas: is required'],
    ['engine emulator --replicas 1', "KIND: 'engines' has no replicas; give 'endpoint'"],
    ['endpoint none --replicas 1', 'Endpoint default/none: does not exist'],
    ['endpoint chat --replicas 1001', "--replicas: '1001' is too large"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`scale ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('drain', () => {
  it('drains a replica, and says how many requests it still has', async () => {
    await printed('apply -f chat.yaml');
    server.runner.start('chat-a', 'default/chat');
    expect(await printed('drain ep/chat --replica chat-a')).toBe('replica chat-a is leaving; it has 0 requests\n');
    expect(server.drained).toEqual(['chat-a']);
  });

  it.each([
    ['ep/chat', '--replica: is required'],
    ['ep/chat --replica chat-z', "no replica 'chat-z'; the endpoint has none at present"],
    ['engine/emulator --replica a', "has no replicas; give 'endpoint'"],
  ])('%s is refused', async (args, message) => {
    await printed('apply -f chat.yaml');
    const ended = await twinyard(`drain ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
