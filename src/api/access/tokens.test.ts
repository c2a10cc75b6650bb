import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, exportSPKI, generateKeyPair } from 'jose';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Claims, FakeIssuer } from '../../gateway/access/tokens/fake-issuer.fixture.js';
import { GATEWAY_DEFAULTS } from '../../gateway/config/gateway-config.js';
import { JWT_SCHEMA } from '../../gateway/config/jwt-schema.js';
import { FakeEngine, startGateway } from '../../gateway/fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from '../../gateway/fleet/managed.fixture.js';
import type { Gateway } from '../../gateway/gateway.js';
import { serveApi } from '../api-server.js';

const issuer = new FakeIssuer();
const folder = mkdtempSync(join(tmpdir(), 'twinyard-tokens-'));
let gateway: Gateway;
let engine: FakeEngine;

const now = () => Math.floor(Date.now() / 1000);
const signed = (claims: Claims = {}, kid?: string) => issuer.signed(claims, kid);

const send = (token: string, model = 'm', headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });

const statusOf = async (token: string, model?: string) => (await send(token, model)).status;
const messageOf = async (token: string) =>
  ((await (await send(token)).json()) as { error: { message: string } }).error.message;

const call = async (path: string, token: string, method = 'GET', body?: object) => {
  const init = { method, headers: { authorization: `Bearer ${token}` } };
  const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
  const response = await fetch(`${gateway.adminUrl}/api/v1/${path}`, sent);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

beforeAll(async () => {
  await issuer.start();
  for (const [kid, alg] of [
    ['rsa', 'RS256'],
    ['pss', 'PS256'],
    ['ec', 'ES256'],
    ['ed', 'EdDSA'],
  ] as const) {
    await issuer.add(kid, alg);
  }
  engine = await FakeEngine.start();
  const jwt = v.parse(JWT_SCHEMA, {
    issuer: issuer.url,
    audience: ['twinyard'],
    rules: [
      { claim: 'groups', value: 'platform', global_role: 'admin' },
      { claim: 'realm_access.roles', value: 'ops', workspace: 'a', role: 'operator' },
      { claim: 'plan', value: 'trial', workspace: 'a', limits: { '*': { requests_per_minute: 2 } } },
      { claim: 'team', workspace_claim: 'team' },
    ],
  });
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const, wrongKeysPerMinute: 1e6, jwt };
  gateway = await startGateway([], { endpoints: [], store: join(folder, 'x.db'), dataDir: folder, access });
  gateway.api = serveApi(gateway);
  gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)], { workspace: 'a' }));
  gateway.routes.put(managedEndpoint([managedReplica('b', engine.url, { models: ['n'] })], { workspace: 'b' }));
});
afterAll(async () => {
  await gateway.close(0);
  await engine.kill();
  issuer.stop();
  rmSync(folder, { recursive: true });
});

describe('a token of the issuer', () => {
  it.each(['rsa', 'pss', 'ec', 'ed'])('signed with %s is accepted like a key, in either header', async (kid) => {
    const token = await signed({}, kid);
    expect(await statusOf(token)).toBe(200);
    expect((await send(token, 'm', { 'x-api-key': token })).status).toBe(200);
    const { headers } = engine.seen.at(-1)!.request;
    expect(JSON.stringify(headers)).not.toContain(token);
  });

  it('belongs to the workspace that its claims name, and reaches no other', async () => {
    expect(await statusOf(await signed(), 'n')).toBe(404);
    expect(await statusOf(await signed({ team: 'b' }), 'n')).toBe(200);
    for (const team of ['*', 'A', '../b', '', 7, ['a'], { a: 1 }, undefined]) {
      expect(await statusOf(await signed({ team })), String(team)).toBe(401);
    }
  });

  it('is refused unless signature, issuer, audience and times are right', async () => {
    const [header, payload, signature] = (await signed()).split('.') as [string, string, string];
    const other = Buffer.from(
      JSON.stringify({ iss: issuer.url, aud: 'twinyard', sub: 'eve', exp: now() + 9e6, team: 'b' }),
    );
    const forged = [
      `${header}.${other.toString('base64url')}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -6)}AAAAAA`,
      `${header}.${payload}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.${signature}`,
      `${Buffer.from('{"alg":"RS256","kid":"ec"}').toString('base64url')}.${payload}.${signature}`,
      'eyJ.eyJ.eyJ',
      'eyJhbGciOiJSUzI1NiJ9.e30.',
    ];
    for (const token of forged) expect(await statusOf(token), token).toBe(401);
    for (const claims of [
      { iss: 'https://elsewhere.example' },
      { iss: undefined },
      { aud: 'another' },
      { aud: undefined },
      { exp: now() - 60 },
      { exp: undefined },
      { nbf: now() + 600 },
      { iat: now() + 600 },
      { sub: undefined },
      { sub: '' },
    ]) {
      expect(await statusOf(await signed(claims)), JSON.stringify(claims)).toBe(401);
    }
    // Clocks may differ a little.
    expect(await statusOf(await signed({ exp: now() - 10, nbf: now() + 10 }))).toBe(200);
    expect(await messageOf(await signed({ exp: now() - 60 }))).toBe('The token was refused: it has expired.');
  });

  it('is refused when a public key was used as a shared secret, or a key that is not of the issuer', async () => {
    const { jwk } = issuer.signers.get('rsa')!;
    const pair = await generateKeyPair('RS256', { extractable: true });
    const pem = await exportSPKI(pair.publicKey);
    for (const secret of [JSON.stringify(jwk), pem, jwk.n!]) {
      for (const alg of ['HS256', 'HS512']) {
        const token = await issuer.signedBy(Buffer.from(secret.padEnd(64)), { alg, kid: 'rsa' });
        expect(await messageOf(token)).toContain('its algorithm is not allowed');
      }
    }
    expect(await statusOf(await issuer.signedBy(pair.privateKey, { alg: 'RS256', kid: 'rsa' }))).toBe(401);
    const own = { jwk: await exportJWK(pair.publicKey), jku: 'http://127.0.0.1:1/keys' };
    expect(await statusOf(await issuer.signedBy(pair.privateKey, { alg: 'RS256', kid: 'rsa', ...own }))).toBe(401);
  });

  it('has at most 8192 characters', async () => {
    expect(await messageOf(await signed({ padding: 'x'.repeat(7000) }))).toContain('more than 8192 characters');
  });

  it('has roles on the API: of its rule, in its workspace or in every one', async () => {
    const plain = await signed();
    expect((await call('kinds', plain)).status).toBe(403);
    const ops = await signed({ realm_access: { roles: ['x', 'ops'] }, sub: 'olga' });
    expect((await call('workspaces/a/apikeys', ops)).status).toBe(200);
    expect((await call('workspaces/b/apikeys', ops)).status).toBe(403);
    expect((await call('workspaces/a/apikeys', ops, 'POST', {})).status).toBe(403);
    expect((await call('config', ops)).status).toBe(403);
    const admin = await signed({ groups: ['platform'], sub: 'root' });
    expect((await call('config', admin)).status).toBe(200);
    const key = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'k', workspace: 'default' }, spec: {} };
    expect((await call('workspaces/default/apikeys', admin, 'POST', key)).status).toBe(201);
    const audit = (await call('audit?kind=ApiKey', admin)).body as { items: { actor: string }[] };
    expect(audit.items[0]!.actor).toBe('default/jwt:root');
    expect((await call('config', await signed({ groups: ['platform'], exp: now() - 60 }))).status).toBe(401);
  });

  it('is limited and counted by subject, whichever token it uses', async () => {
    const trial = (sub: string, jti: string) => signed({ plan: 'trial', sub, jti });
    expect(await statusOf(await trial('tom', '1'))).toBe(200);
    expect(await statusOf(await trial('tom', '2'))).toBe(200);
    expect(await statusOf(await trial('tom', '3'))).toBe(429);
    expect(await statusOf(await trial('tina', '1'))).toBe(200);
    const { body } = await call('usage?by=key', gateway.adminToken);
    const items = (body as { items: { key: string; requests: number }[] }).items;
    expect(items).toContainEqual(expect.objectContaining({ key: 'jwt/a/tom', requests: 2 }));
    const ops = await signed({ realm_access: { roles: ['ops'] }, sub: 'olga' });
    const seen = (await call('usage?by=key', ops)).body as { items: { key: string }[] };
    expect(seen.items.map(({ key }) => key)).toContain('jwt/a/tina');
    expect(seen.items.map(({ key }) => key)).not.toContain('jwt/b/ann');
  });
});

describe('the keys of the issuer', () => {
  it('that were never read refuse tokens with 503, and keys as ever', async () => {
    issuer.isDown = true;
    const other = await startGateway([engine], {
      ...{ store: join(folder, 'y.db'), dataDir: join(folder, 'y') },
      access: gateway.config.access,
    });
    try {
      const headers = { authorization: `Bearer ${await signed()}` };
      const response = await fetch(`${other.url}/v1/models`, { headers });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await fetch(`${other.url}/v1/models`, { headers: { 'x-api-key': 'ty_wrong' } })).status).toBe(401);
    } finally {
      issuer.isDown = false;
      await other.close(0);
    }
  });
});
