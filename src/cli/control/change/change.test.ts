import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../../test-io.fixture.js';
import { VIEWER_TOKEN } from '../control-server.fixture.js';
import { endpoint, head, inControlYard, printed, REF, server, started, streaming } from '../control-yard.fixture.js';

inControlYard();
beforeEach(() => printed('apply -f chat.yaml'));

const replicas = async () => (await server.host.store.get(REF))!.spec.replicas;

describe('patch', () => {
  it('changes what it names and prints it', async () => {
    expect(await printed('patch ep/chat -p {"spec":{"replicas":4}}')).toBe(
      'Endpoint default/chat changed\n  spec.replicas: 3 -> 4\n',
    );
    expect(await printed('patch ep/chat -p {"spec":{"replicas":4}}')).toBe('Endpoint default/chat unchanged\n');
    const { stdout } = await twinyard(['patch', 'ep', 'chat', '-p', 'metadata: {labels: {team: a}}', '--dry-run']);
    expect(stdout).toBe('Endpoint default/chat would be changed\n  metadata.labels.team: (absent) -> "a"\n');
    writeFileSync('patch.json', '[{"op": "replace", "path": "/spec/replicas", "value": 5}]');
    expect(await printed('patch ep/chat --patch-file patch.json --type json')).toContain('spec.replicas: 4 -> 5');
    expect(await replicas()).toBe(5);
  });

  it('is refused for a version that is not the present one', async () => {
    const { resource_version } = (await server.host.store.get(REF))!.metadata;
    await printed('scale ep/chat --replicas 1');
    const late = await twinyard(`patch ep/chat -p {"spec":{"replicas":9}} --resource-version ${resource_version}`);
    expect(late).toMatchObject({ code: 1, stdout: '' });
    expect(late.stderr).toContain('Endpoint default/chat: ');
    expect(await replicas()).toBe(1);
  });

  it.each([
    ['ep/chat', '--patch: is required'],
    ['ep/chat -p {', "--patch: '{' is not JSON or YAML"],
    ['ep/chat -p 3', "--patch: '3' is not a patch"],
    [
      'ep/chat -p {} --type json',
      '--type: is json, and the patch is a map of fields; give --type merge, or leave it out',
    ],
    ['ep/chat -p {} --type strategic', "--type: 'strategic' is not known; known: merge, json"],
    ['ep/chat -p {} --patch-file x', '--patch: is given together with --patch-file'],
    ['ep/chat -p {"spec":{"replicas":-1}}', 'body (spec.replicas)'],
    ['ep/chat -p {"metadata":{"name":"x"}}', 'body (metadata.name): cannot be changed by a patch'],
    ['ep/none -p {}', 'Endpoint default/none: does not exist'],
    [`ep/chat -p {"spec":{"replicas":1}} --token ${VIEWER_TOKEN}`, 'requires the role operator'],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`patch ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('diff', () => {
  it('ends with 0, 1 or 2, and prints only what would change', async () => {
    expect(await twinyard('diff -f chat.yaml')).toEqual({ code: 0, stdout: '', stderr: '' });
    writeFileSync('both.yaml', `${endpoint('  replicas: 5\n')}---\n${head('Workspace', 'default')}spec: {}\n`);
    expect(await twinyard('diff -f both.yaml')).toEqual({
      code: 1,
      stdout: 'Endpoint default/chat would be changed\n  spec.replicas: 3 -> 5\n',
      stderr: '',
    });
    expect(await replicas()).toBe(3);
    writeFileSync('bad.yaml', endpoint('  replicas: -1\n'));
    const bad = await twinyard('diff -f bad.yaml');
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('bad.yaml:7:13 (spec.replicas)')]);
    expect((await twinyard('diff')).stderr).toContain('--file: is required');
    await server.hangUp();
    expect((await twinyard('diff -f chat.yaml')).code).toBe(2);
    await server.listen();
  });
});

/** An editor that runs one of these sed scripts after the other, and keeps what it was given. */
function editor(...scripts: readonly string[]): Record<string, string> {
  const path = resolve('editor.sh');
  writeFileSync('scripts', scripts.map((one) => `${one}\n`).join(''));
  const lines = ['#!/bin/sh', 'n=$(cat n 2>/dev/null || echo 0)', 'n=$((n + 1))', 'echo $n > n'];
  lines.push('cp "$1" seen.$n', 'script=$(sed -n "$n"p scripts)', '[ "$script" = fail ] && exit 3');
  lines.push('sed -i.bak "$script" "$1"', 'exit 0');
  writeFileSync(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o700);
  return { EDITOR: path };
}

const keptIn = (stderr: string) => /kept in (\S+)/.exec(stderr)![1]!;

describe('edit', () => {
  it('applies what was saved, without status and without fields of the server', async () => {
    const ended = await twinyard('edit ep/chat', { env: editor('s/replicas: 3/replicas: 6/') });
    expect(ended).toEqual({ code: 0, stdout: 'Endpoint default/chat changed\n  spec.replicas: 3 -> 6\n', stderr: '' });
    const seen = readFileSync('seen.1', 'utf8');
    expect(seen).toMatch(/^# Change the fields/);
    expect(seen).not.toMatch(/status|uid|created_at/);
    expect(await replicas()).toBe(6);
  });

  it('cancels without a change', async () => {
    const ended = await twinyard('edit ep/chat', { env: editor('s/^/&/') });
    expect(ended).toEqual({ code: 0, stdout: '', stderr: 'twinyard: Endpoint default/chat: no change was made\n' });
  });

  it('opens again with the reason when it is refused, with what was edited', async () => {
    const env = editor('s/replicas: 3/replicas: -7/', 's/replicas: -7/replicas: 2/');
    expect(await twinyard('edit ep/chat', { env })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync('seen.2', 'utf8')).toMatch(/^# Change.*\n# \(spec.replicas\): .*\n[\s\S]*replicas: -7/);
    expect(await replicas()).toBe(2);
  });

  it('keeps the text when it is given up, when the editor fails, and when the server is gone', async () => {
    const given = await twinyard('edit ep/chat', { env: editor('s/replicas: 3/replicas: -7/', 's/^/&/') });
    expect(given.code).toBe(1);
    expect(readFileSync(keptIn(given.stderr), 'utf8')).toContain('replicas: -7');
    writeFileSync('n', '0');
    const failed = await twinyard('edit ep/chat', { env: editor('fail') });
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('ended with code 3')]);
    expect(existsSync(keptIn(failed.stderr))).toBe(true);
    writeFileSync('n', '0');
    const wrong = await twinyard(`edit ep/chat --token ${VIEWER_TOKEN}`, { env: editor('s/replicas: 3/replicas: 9/') });
    expect(wrong.stderr).toContain('requires the role operator');
    expect(readFileSync(keptIn(wrong.stderr), 'utf8')).toContain('replicas: 9');
    expect(await replicas()).toBe(3);
  });

  it('does not replace a change that came meanwhile', async () => {
    const env = editor('s/replicas: 3/replicas: 6/', 's/^/&/');
    writeFileSync(
      'editor2.sh',
      `#!/bin/sh\n${env.EDITOR} "$1"\n[ -f seen.2 ] || touch wait\nwhile [ -f wait ]; do sleep 0.05; done\n`,
    );
    chmodSync('editor2.sh', 0o700);
    const ending = twinyard('edit ep/chat', { env: { EDITOR: resolve('editor2.sh') } });
    while (!existsSync('wait')) await new Promise((done) => setTimeout(done, 10));
    await printed('scale ep/chat --replicas 1');
    (await import('node:fs')).rmSync('wait');
    const { code, stderr } = await ending;
    expect([code, stderr]).toEqual([1, expect.stringContaining('to replace those changes')]);
    expect(await replicas()).toBe(1);
  });
});

describe('rollout', () => {
  it('lists revisions, prints one, and restores one', async () => {
    await printed('scale ep/chat --replicas 5');
    expect(await printed('rollout history ep/chat')).toMatch(
      /^REVISION +CURRENT +CHANGED +DIFFERENCES\n1 +\S+ \S+ +created\n2 +\* +\S+ \S+ +spec.replicas: 3 -> 5\n$/,
    );
    expect(await printed('rollout history ep/chat --revision 1')).toContain('replicas: 3\n');
    expect(JSON.parse(await printed('rollout history ep/chat -o json'))).toHaveLength(2);
    expect((await twinyard('rollout undo ep/chat --dry-run')).stdout).toContain('spec.replicas: 5 -> 3');
    expect(await replicas()).toBe(5);
    expect(await printed('rollout undo ep/chat')).toBe('Endpoint default/chat changed\n  spec.replicas: 5 -> 3\n');
    expect(await printed('rollout undo ep chat --to-revision 2')).toContain('spec.replicas: 3 -> 5');
    expect((await twinyard('rollout undo ep/chat --to-revision 9')).stderr).toContain(
      'there is no revision 9; kept: 4, 3, 2, 1',
    );
    expect((await twinyard('rollout history ep/chat --revision 9')).stderr).toContain('give one of 1, 2, 3, 4');
    expect((await twinyard(`rollout undo ep/chat --token ${VIEWER_TOKEN}`)).code).toBe(2);
  });

  it('prints the progress of an update until it is complete', async () => {
    const following = started('rollout status ep/chat');
    await streaming(1);
    const one = { id: 'a', phase: 'ready', generation: 1, url: 'http://x' };
    await server.say('chat', 'Deploying', { ready: 1, replicas: [one] });
    await following.until('1 of 3 replicas are updated, 1 are ready');
    await server.say('chat', 'Running', { ready: 3 });
    expect(await following.ended).toBe(0);
    expect(following.io.stdoutText()).toBe(
      [
        'Endpoint default/chat: waiting for the control plane',
        'Endpoint default/chat: 1 of 3 replicas are updated, 1 are ready',
        'Endpoint default/chat is rolled out\n',
      ].join('\n'),
    );
    await server.say('chat', 'Failed', { message: 'exit code 1' });
    expect(await twinyard('rollout status ep/chat')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exit code 1'),
    });
    expect((await twinyard('rollout status engine/emulator')).stderr).toContain('has no replicas');
  });
});
