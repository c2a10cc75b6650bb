import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SecretBox } from '../../store/resources/secrets.js';
import { describeStores } from '../../store/stores.fixture.js';
import { InvalidResources } from '../resources/errors.js';
import { planText } from '../resources/plan.js';
import { readResources } from '../resources/read-resources.js';
import { ControlStore } from './control-store.js';
import { installDefaults } from './install-defaults.js';

const TOKEN = 'hf_plainly_secret';
const head = (kind: string, name: string) => `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
const registry = (token: string, url = 'https://hub.example.com') =>
  `${head('ModelRegistry', 'hub')}spec: {type: hugging-face, url: '${url}', token: '${token}'}\n`;
const endpoint = (more: string, name = 'chat') =>
  `${head('Endpoint', name)}spec:\n  engine: {name: emulator}\n  model: {name: qwen/qwen3-14b}\n${more}`;
const upstreams = (...list: string[]) => `${head('ExternalEndpoint', 'x')}spec: {upstreams: [${list.join(', ')}]}\n`;
const HUB = { kind: 'ModelRegistry', workspace: 'default', name: 'hub' };
const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

describeStores((stores) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'twinyard-control-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function opened() {
    const address = await stores.freshAddress();
    const store = await stores.open(address);
    const control = new ControlStore(store, SecretBox.open(join(folder, 'secrets.key')));
    await installDefaults(control);
    const apply = (text: string, options = {}) =>
      control.apply('alice', readResources(text, 'f.yaml'), { isAdmin: true, ...options });
    return { address, store, control, apply };
  }

  describe('apply', () => {
    it('creates and changes resources, and returns what changed', async () => {
      const { apply, control } = await opened();
      const text = `${endpoint('  replicas: 3\n')}---\n${head('Workspace', 'search')}spec: {}\n`;
      expect(planText(await apply(text))).toBe('Endpoint default/chat created\nWorkspace search created\n');
      const version = await control.resources.version();
      expect((await apply(text)).map(({ action }) => action)).toEqual(['unchanged', 'unchanged']);
      expect(await control.resources.version()).toBe(version);
      expect(planText(await apply(endpoint('  replicas: 5\n  env: {A: b}\n')))).toBe(
        'Endpoint default/chat changed\n  spec.replicas: 3 -> 5\n  spec.env.A: (absent) -> "b"\n',
      );
    });

    it('changes nothing in a dry run', async () => {
      const { apply, control } = await opened();
      const version = await control.resources.version();
      const [planned] = await apply(endpoint(''), { dryRun: true });
      expect(planned).toMatchObject({ action: 'created', resource: { spec: { replicas: 1 } } });
      expect([await control.get(CHAT), await control.resources.version()]).toEqual([null, version]);
    });

    it('applies all or nothing, and reports every wrong reference', async () => {
      const { apply, control } = await opened();
      const text = `${endpoint('  variables: {sped: 10}\n')}---\n${head('Workspace', 'a')}spec: {}\n---\n${head('Role', 'r').replace('}', ', workspace: nowhere}')}spec: {role: admin, api_keys: [k]}\n`;
      const refusal = (await apply(text).catch((error: unknown) => error)) as InvalidResources;
      expect(refusal).toBeInstanceOf(InvalidResources);
      expect(refusal.problems.map(({ message }) => message)).toEqual([
        "f.yaml:7:21 (spec.variables.sped): the engine has no parameter 'sped'; did you mean 'speed'?",
        "f.yaml:16:32 (metadata.workspace): there is no workspace 'nowhere'; known: default, a",
        "f.yaml:17:32 (spec.api_keys[0]): there is no ApiKey 'k'; apply it first, or in the same file",
      ]);
      expect(await control.get(CHAT)).toBeNull();
      await expect(apply(endpoint('').replace('emulator', 'emulatr'))).rejects.toThrow("did you mean 'emulator'?");
    });

    it('refuses references to resources that do not exist, each with its place', async () => {
      const { apply, control } = await opened();
      const wrong = endpoint('  cluster: locl\n').replace('{name: qwen', '{registry: hb, name: qwen');
      const refusal = await apply(wrong).catch((error: unknown) => error as InvalidResources);
      expect((refusal as InvalidResources).problems.map(({ message }) => message)).toEqual([
        "f.yaml:6:21 (spec.model.registry): there is no model registry 'hb'; apply it first, or in the same file",
        "f.yaml:7:12 (spec.cluster): there is no cluster 'locl'; did you mean 'local'? known: local",
      ]);
      await apply(registry(TOKEN));
      await expect(apply(wrong.replace('locl', 'local'))).rejects.toThrow("did you mean 'hub'?");
      // A resource that is being deleted cannot be referred to.
      await control.delete('bob', HUB);
      await expect(apply(wrong.replace('locl', 'local').replace('hb', 'hub'))).rejects.toThrow(
        "no model registry 'hub'",
      );
    });

    it('accepts an engine and its endpoint in one file, in any order', async () => {
      const { apply } = await opened();
      const engine = `${head('Engine', 'mine')}spec: {versions: {v1: {tasks: [text-generation], command: [x], metrics: vllm}}}\n`;
      const text = `${endpoint('  variables: {anything: 1}\n').replace('emulator', 'mine')}---\n${engine}`;
      expect((await apply(text)).map(({ action }) => action)).toEqual(['created', 'created']);
    });

    it('refuses a change of an older version, unless only the status has changed', async () => {
      const { apply, control } = await opened();
      const [made] = await apply(endpoint(''));
      const { resource_version: version, uid } = made!.resource.metadata;
      await control.putStatus(CHAT, uid!, { phase: 'Running', ready: 1 });
      const at = (more: string) => endpoint(more).replace('name: chat', `name: chat, resource_version: ${version}`);
      await apply(at('  replicas: 2\n'));
      await expect(apply(at('  replicas: 3\n'))).rejects.toThrow(
        /changed since version \d+ by alice: spec.replicas was 1, is 2/,
      );
    });
  });

  describe('secrets', () => {
    it('are never shown, logged or stored in plain text, and can be decrypted', async () => {
      const { address, apply, control, store } = await opened();
      const applied = await apply(registry(TOKEN));
      const shown = [applied, await control.get(HUB), await control.list({}), await control.resources.audit()];
      const kept = [await control.resources.list(), await store.db.selectFrom('audit_log').selectAll().execute()];
      expect(JSON.stringify([shown, kept])).not.toContain(TOKEN);
      expect((await control.get(HUB))!.spec.token).toBe('***');
      expect((await control.revealed(HUB))!.spec.token).toBe(TOKEN);
      if (stores.kind === 'sqlite') {
        for (const file of [address, `${address}-wal`]) expect(readFileSync(file, 'latin1')).not.toContain(TOKEN);
      }
    });

    it('that are the same, or given as stars, are unchanged; others change without being shown', async () => {
      const { apply, control } = await opened();
      await apply(registry(TOKEN));
      for (const text of [registry(TOKEN), registry('***')]) expect((await apply(text))[0]!.action).toBe('unchanged');
      expect(planText(await apply(registry('other')))).toBe(
        'ModelRegistry default/hub changed\n  spec.token: "***" -> "***"\n',
      );
      expect((await control.revealed(HUB))!.spec.token).toBe('other');
    });

    it('that were encrypted with another key are reported, and replaced when applied again', async () => {
      const { apply, store } = await opened();
      await apply(registry(TOKEN));
      const other = new ControlStore(store, SecretBox.open(join(folder, 'other.key')));
      const applyThere = (text: string) => other.apply('alice', readResources(text, 'f.yaml'), { isAdmin: true });
      const hint = /apply the resources with their secrets again/;
      await expect(other.revealed(HUB)).rejects.toThrow(hint);
      // Stars hold no secret that could be encrypted again.
      expect((await applyThere(registry('***')))[0]!.action).toBe('unchanged');
      await expect(other.revealed(HUB)).rejects.toThrow(hint);
      expect((await applyThere(registry(TOKEN)))[0]).toMatchObject({
        action: 'changed',
        resource: { metadata: { generation: 2 } },
      });
      expect((await other.revealed(HUB))!.spec.token).toBe(TOKEN);
      expect((await applyThere(registry(TOKEN)))[0]!.action).toBe('unchanged');
    });

    it('given as stars are refused without a stored secret, and for another address', async () => {
      const { apply } = await opened();
      await expect(apply(registry('***'))).rejects.toThrow(/f\.yaml:4:\d+ \(spec\.token\): no secret is stored/);
      await apply(registry(TOKEN));
      await expect(apply(registry('***', 'https://evil.example.com'))).rejects.toThrow(
        /its address has changed; give the secret/,
      );
    });

    it('follow their upstream by its name, in any order', async () => {
      const { apply, control } = await opened();
      const [a, b] = [
        "{name: a, url: 'https://a', credential: KEY_A}",
        "{name: b, url: 'https://b', credential: KEY_B}",
      ];
      await apply(upstreams(a!, b!));
      await apply(upstreams(b!.replace('KEY_B', "'***'"), "{name: c, url: 'https://c'}", a!.replace('KEY_A', "'***'")));
      const { spec } = (await control.revealed({ kind: 'ExternalEndpoint', workspace: 'default', name: 'x' }))!;
      const credentials = (spec.upstreams as { credential?: string }[]).map(({ credential }) => credential);
      expect(credentials).toEqual(['KEY_B', undefined, 'KEY_A']);
      await expect(apply(upstreams("{name: d, url: 'https://a', credential: '***'}"))).rejects.toThrow(
        'no secret is stored',
      );
    });

    it('include secret environment variables', async () => {
      const { apply, control } = await opened();
      await apply(endpoint('  secret_env: {HF_TOKEN: abc}\n'));
      expect((await control.get(CHAT))!.spec.secret_env).toEqual({ HF_TOKEN: '***' });
      expect((await control.revealed(CHAT))!.spec.secret_env).toEqual({ HF_TOKEN: 'abc' });
      expect(await control.revealed({ ...CHAT, name: 'none' })).toBeNull();
    });
  });

  describe('delete', () => {
    it('marks a resource as deleted until the reconciler removes it', async () => {
      const { apply, control } = await opened();
      await apply(endpoint(''));
      const { metadata } = await control.delete('bob', CHAT);
      expect(metadata.deleted_at).toMatch(/^\d{4}-/);
      await expect(apply(endpoint('  replicas: 2\n'))).rejects.toMatchObject({ code: 'RESOURCE_DELETING' });
      expect(await control.remove(CHAT, metadata.uid!)).toBe(true);
      expect(await control.get(CHAT)).toBeNull();
      expect(await control.putStatus(CHAT, metadata.uid!, { phase: 'Deleting' })).toBeNull();
      await expect(control.delete('bob', CHAT)).rejects.toMatchObject({ code: 'RESOURCE_UNKNOWN' });
      expect((await control.resources.audit({ name: 'chat' })).map(({ action, actor }) => [actor, action])).toEqual([
        ['control-plane', 'remove'],
        ['bob', 'delete'],
        ['alice', 'create'],
      ]);
    });

    it('is refused for resources that are in use', async () => {
      const { apply, control } = await opened();
      const versions = '{v1: {tasks: [text-generation], command: [x], metrics: vllm}}';
      const parts = [
        registry(TOKEN),
        `${head('Engine', 'mine')}spec: {versions: ${versions}}\n`,
        `${head('Cluster', 'moon')}spec: {}\n`,
        endpoint('  cluster: moon\n').replace('{name: qwen', '{registry: hub, name: qwen').replace('emulator', 'mine'),
        `${head('ApiKey', 'k')}spec: {}\n`,
        `${head('Role', 'r')}spec: {role: admin, api_keys: [k]}\n`,
        `${head('Workspace', 'search')}spec: {}\n`,
        `${head('ApiKey', 'k').replace('}', ', workspace: search}')}spec: {}\n`,
      ];
      await apply(parts.join('---\n'));
      const needed = [
        { kind: 'Engine', workspace: '', name: 'mine' },
        { kind: 'Cluster', workspace: '', name: 'moon' },
        HUB,
        { kind: 'ApiKey', workspace: 'default', name: 'k' },
        { kind: 'Workspace', workspace: '', name: 'search' },
      ];
      for (const ref of needed) {
        await expect(control.delete('bob', ref)).rejects.toMatchObject({ code: 'RESOURCE_IN_USE' });
      }
    });

    it.each([
      ['Engine', 'vllm'],
      ['Cluster', 'local'],
      ['Workspace', 'default'],
    ])('is refused for built-in resources: %s %s', async (kind, name) => {
      const { control } = await opened();
      await expect(control.delete('bob', { kind, workspace: '', name })).rejects.toMatchObject({
        code: 'RESOURCE_BUILT_IN',
        message: `${kind} ${name}: is built in; leave it, or change it with 'twinyard apply'`,
      });
      expect((await control.get({ kind, workspace: '', name }))!.metadata).not.toHaveProperty('deleted_at');
    });
  });

  it('built-in resources are updated until an operator changes them', async () => {
    const { apply, control, store } = await opened();
    const version = await control.resources.version();
    await installDefaults(control);
    expect(await control.resources.version()).toBe(version);
    await apply(`${head('Cluster', 'local')}spec: {description: mine}\n`);
    // As in a store of an older version.
    await store.exclusively((tx) => tx.deleteFrom('resources').where('name', '=', 'vllm').execute());
    await installDefaults(control);
    expect((await control.get({ kind: 'Cluster', workspace: '', name: 'local' }))!.spec.description).toBe('mine');
    expect((await control.list({ kind: 'Engine' })).map(({ metadata }) => metadata.name)).toHaveLength(6);
  });
});
