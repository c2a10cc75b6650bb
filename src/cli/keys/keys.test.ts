import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defineClasses } from '../../store/keys/key-classes.js';
import { keyRecordOf } from '../../store/keys/key-record.js';
import { hashKeySecret } from '../../store/keys/key-secret.js';
import { openStore } from '../../store/open-store.js';
import { KEYS_COMMANDS } from '../keys.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { examplesIn, captured as twinyard } from '../test-io.fixture.js';

inTestFolder(() => {});

const KEY = /^ty_([a-z0-9]{12})_[A-Za-z0-9_-]{43}\n$/;

/** Creates a key: its secret is all that is printed on stdout. */
async function made(flags: string): Promise<{ id: string; text: string }> {
  const { code, stdout, stderr } = await twinyard(`keys create ${flags}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^twinyard: created key [^\n]+\n$/) });
  expect(stdout).toMatch(KEY);
  return { id: KEY.exec(stdout)![1]!, text: stdout.trim() };
}

const shown = async (key: string) => JSON.parse(await silent(`keys show ${key} --format json`));

async function stored(id: string) {
  const store = await openStore('twinyard.db', { create: false });
  const record = (await store.resources.byUid(id))!;
  await store.close();
  return { ...keyRecordOf(record)!, createdAt: record.createdAt };
}

describe('keys', () => {
  it.each(['keys --help', 'keys -h', 'help keys'])('lists its commands for %s', async (args) => {
    const text = await silent(args);
    for (const { name, summary } of KEYS_COMMANDS) expect(text).toMatch(new RegExp(`^ {2}${name} +${summary}$`, 'm'));
  });

  it('gives examples that work', async () => {
    await made('--name web');
    // A revoked key can be looked at and not be changed: revoking comes last.
    const names = KEYS_COMMANDS.map(({ name }) => name).sort((a, b) => Number(a === 'revoke') - Number(b === 'revoke'));
    for (const name of names) {
      const help = await silent(`keys ${name} --help`);
      const examples = examplesIn(help);
      expect(examples.length).toBeGreaterThan(1);
      for (const example of examples.filter((one) => one !== 'keys create --name web')) {
        const words = example.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''));
        expect({ example, ...(await twinyard(words)) }).toMatchObject({ example, code: 0 });
      }
    }
  });
});

describe('the store of keys', () => {
  it('is that of the control plane here, where there is no other', async () => {
    await made('--name kept --store .twinyard/twinyard.db');
    expect(await silent('keys list')).toContain('kept');
    await made('--name web --store twinyard.db');
    expect(await silent('keys list')).not.toContain('kept');
  });

  it('is not created empty by a command that failed', async () => {
    expect((await twinyard(['keys', 'create', '--name', 'a', '--max-slo-class', 'nonsense'])).code).toBe(2);
    writeFileSync('notes.txt', 'no backup\n');
    for (const from of ['nowhere', 'notes.txt']) {
      expect((await twinyard(['restore', '--store', 'new.db', '--from', from])).code).toBe(2);
    }
    expect(['twinyard.db', 'new.db', 'new.db-wal', 'new.db-shm'].filter(existsSync)).toEqual([]);
  });
});

describe('keys create', () => {
  it('prints the secret alone, and stores only its hash', async () => {
    const { id, text } = await made('--name web');
    expect(await stored(id)).toMatchObject({ id, name: 'web', workspace: 'default', hash: hashKeySecret(text) });
    const [all, one] = [await silent('keys list --format json'), await silent('keys show web --format json')];
    for (const output of [all, one, await silent('keys list'), await silent('keys show web')]) {
      expect(output).not.toContain(text.slice(-20));
      expect(output).not.toContain(hashKeySecret(text));
    }
  });

  it('has a flag for every setting', async () => {
    const { id } = await made(
      '--name n --tenant t --model a --model b --model a --grant default:x,y --grant * --max-slo-class batch --role viewer --expires 2100-01-31T12:00+02:00' +
        ' --requests-per-minute 60 --tokens-per-minute 1e5 --concurrent 3 --tokens-per-day 1 --tokens-per-month 2' +
        ' --dollars-per-day 0.5 --dollars-per-month 10 --body-bytes 1048576 --limit model=a,concurrent=1 --limit model=b/c,dollars-per-day=1,tokens-per-day=7',
    );
    expect(await stored(id)).toMatchObject({
      name: 'n',
      tenant: 't',
      models: ['a', 'b'],
      grants: [{ workspace: 'default', models: ['x', 'y'] }, { workspace: '*' }],
      maxSloClass: 'batch',
      role: 'viewer',
      expiresAt: Date.UTC(2100, 0, 31, 10),
      limits: {
        '*': {
          requestsPerMinute: 60,
          tokensPerMinute: 100_000,
          concurrent: 3,
          tokensPerDay: 1,
          tokensPerMonth: 2,
          dollarsPerDay: 0.5,
          dollarsPerMonth: 10,
          bodyBytes: 1_048_576,
        },
        a: { concurrent: 1 },
        'b/c': { dollarsPerDay: 1, tokensPerDay: 7 },
      },
    });
  });

  it('takes a class that a policy of the given file defines, or one that a gateway has published', async () => {
    const policy = 'policy:\n  admission:\n    slo_priorities: { gold: 9 }\n';
    writeFileSync('golden.yaml', `store: twinyard.db\nreplicas:\n  - url: http://127.0.0.1:9001\n${policy}`);
    const { id } = await made('--name n --max-slo-class gold -c golden.yaml');
    expect(await stored(id)).toMatchObject({ maxSloClass: 'gold' });
    expect((await twinyard('keys update n --max-slo-class night')).stderr).toContain(
      "no policy defines the class 'night'",
    );
    const store = await openStore('twinyard.db');
    await defineClasses(store, ['night']);
    await store.close();
    await silent('keys update n --max-slo-class night');
    expect(await stored(id)).toMatchObject({ maxSloClass: 'night' });
  });

  it('takes *, any, none and never for the defaults', async () => {
    const { id } = await made('--name n --model * --model x --max-slo-class any --role none --expires never');
    expect(await stored(id)).toMatchObject({ models: null, maxSloClass: null, role: 'none', limits: {} });
    expect((await stored(id)).expiresAt).toBeNull();
  });

  it('counts a duration from now', async () => {
    const { id } = await made('--name n --expires 30d');
    const { createdAt, expiresAt } = await stored(id);
    expect(Math.abs(expiresAt! - createdAt - 30 * 86_400_000)).toBeLessThan(60_000);
  });

  it('prints a document with --format json', async () => {
    const document = JSON.parse(await silent('keys create --name web --format json'));
    expect(document).toMatchObject({
      ...{ kind: 'ApiKey', metadata: { name: 'web', workspace: 'default' }, spec: { limits: {} } },
      status: { phase: 'Active' },
    });
    expect(hashKeySecret(document.key)).toBe((await stored(document.metadata.uid)).hash);
  });
});

describe('keys list and show', () => {
  it('print tables', async () => {
    const { id, text } = await made('--name web --model a --model b --concurrent 2 --limit model=a,tokens-per-day=5');
    const list = (await silent('keys list')).split('\n');
    expect(list[0]).toMatch(/^name +id +phase +tenant +models +role +secret +expires$/);
    expect(list[1]).toMatch(new RegExp(`^web +${id} +Active +web +a, b +none +\\.\\.\\.${text.slice(-4)} +never$`));
    const page = await silent('keys show web');
    expect(page).toMatch(/^limits +all models: concurrent 2\n +a: tokens per day 5$/m);
    expect(page).toMatch(/^created +\d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
  });

  it('find a key by its name, its id, or its secret', async () => {
    const { id, text } = await made('--name web');
    for (const called of [id, 'web', text]) expect((await shown(called)).metadata.uid).toBe(id);
  });

  it('has one key of a name, also after it was revoked', async () => {
    await made('--name web');
    const again = { code: 1, stdout: '', stderr: expect.stringContaining('ApiKey default/web: already exists') };
    expect(await twinyard('keys create --name web')).toEqual(again);
    await silent('keys revoke web');
    expect(await twinyard('keys create --name web')).toEqual(again);
  });
});

describe('keys update', () => {
  it('changes what is given and nothing else', async () => {
    await made(
      '--name web --model a --expires 30d --requests-per-minute 5 --limit model=a,concurrent=2,tokens-per-day=9',
    );
    const { spec: before } = await shown('web');
    const spec = async () => (await shown('web')).spec;
    await silent('keys update web --requests-per-minute none --tokens-per-minute 7 --limit model=a,concurrent=none');
    expect(await spec()).toEqual({ ...before, limits: { '*': { tokens_per_minute: 7 }, a: { tokens_per_day: 9 } } });
    await silent('keys update web --limit model=a,tokens-per-day=none --tokens-per-minute none --expires never');
    const { expires_at: _, ...rest } = before;
    expect(await spec()).toEqual({ ...rest, limits: {} });
    const printed = await silent('keys update web --model * --role operator --format json');
    const { models: __, ...others } = rest;
    expect(JSON.parse(printed).spec).toEqual({ ...others, role: 'operator', limits: {} });
  });
});

describe('keys rotate and revoke', () => {
  it('issues a new secret, and prints how long the old one is accepted', async () => {
    const { id, text } = await made('--name web');
    const { code, stdout, stderr } = await twinyard('keys rotate web --grace 2h');
    expect(code).toBe(0);
    expect(KEY.exec(stdout)![1]).toBe(id);
    expect(stderr).toMatch(/^twinyard: key .* the one before is accepted until \d{4}-\d\d-\d\d \d\d:\d\d UTC\n$/);
    const { hash, previousHash, previousUntil, createdAt } = await stored(id);
    expect([hash, previousHash]).toEqual([hashKeySecret(stdout.trim()), hashKeySecret(text)]);
    expect(Math.abs(previousUntil! - createdAt - 2 * 3_600_000)).toBeLessThan(60_000);
    expect(await silent('keys show web')).toContain('old secret until');
  });

  it('ends the old secret at once with --grace 0', async () => {
    const { id } = await made('--name web');
    expect((await twinyard('keys rotate web --grace 0')).stderr).toContain('the one before is no longer accepted');
    expect((await stored(id)).previousHash).toBeNull();
  });

  it('revokes a key for good', async () => {
    const { id } = await made('--name web');
    expect(await silent('keys revoke web')).toMatch(/^phase +Revoked$/m);
    expect((await stored(id)).revokedAt).not.toBeNull();
    expect((await twinyard('keys rotate web')).stderr).toBe(
      'twinyard: ApiKey default/web: is revoked; create a new key\n',
    );
  });
});

describe('the store of a command', () => {
  it('is named by flag, by file or by environment', async () => {
    writeFileSync('gateway.yaml', 'store: from-file.db\nreplicas:\n  - url: http://127.0.0.1:9001\n');
    const named = async (args: string, env = {}) => (await twinyard(`keys create --name n ${args}`, { env })).code;
    expect(await named('--store sqlite:from-flag.db', { TWINYARD_STORE: 'from-env.db' })).toBe(0);
    expect(await named('-c gateway.yaml', { TWINYARD_STORE: 'from-env.db' })).toBe(0);
    expect(['from-flag.db', 'from-file.db', 'from-env.db'].map(existsSync)).toEqual([true, true, false]);
    expect(await named('', { TWINYARD_STORE: 'from-env.db' })).toBe(0);
    expect([existsSync('from-env.db'), existsSync('twinyard.db')]).toEqual([true, false]);
  });

  it('is not created by commands that read', async () => {
    for (const args of ['list', 'show x', 'update x --tenant y', 'rotate x', 'revoke x', 'usage']) {
      const { code, stderr } = await twinyard(`keys ${args}`);
      expect(code).toBe(2);
      expect(stderr).toContain('store twinyard.db: does not exist');
    }
    expect(existsSync('twinyard.db')).toBe(false);
  });

  it('fails without a word of its password', async () => {
    const { code, stderr } = await twinyard('keys list --store postgres://ann:s3cret@127.0.0.1:1/yard');
    expect(code).toBe(1);
    expect(stderr).toBe('twinyard: store postgres://ann@127.0.0.1:1/yard: cannot be reached (ECONNREFUSED)\n');
  });
});
