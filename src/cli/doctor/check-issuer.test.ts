import { expect, it, onTestFinished } from 'vitest';
import { FakeIssuer } from '../../gateway/access/tokens/fake-issuer.fixture.js';
import { readGatewayConfig } from '../../gateway/config/read-gateway-config.js';
import { checkIssuer } from './check-issuer.js';

const jwtOf = (issuer: string) =>
  readGatewayConfig(
    `store: x.db\naccess: { jwt: { issuer: '${issuer}', audience: [a], rules: [{ workspace: a }] } }\n`,
    'twinyard.yaml',
  ).access.jwt!;

it('reports the keys of an issuer, or why they cannot be read', async () => {
  const issuer = new FakeIssuer();
  await issuer.start();
  onTestFinished(() => issuer.stop());
  await issuer.add('one', 'EdDSA');
  expect(await checkIssuer(jwtOf(issuer.url))).toMatchObject([{ detail: 'responds, public keys: 1', problem: '' }]);
  expect(await checkIssuer(jwtOf(`${issuer.url}/`))).toMatchObject([
    { problem: expect.stringContaining(`is of the issuer '${issuer.url}'`) },
  ]);
  issuer.signers.clear();
  expect(await checkIssuer(jwtOf(issuer.url))).toMatchObject([{ problem: expect.stringContaining('has no keys') }]);
});

it.each(['http://login.example.com', 'https://user@host', 'ftp://127.0.0.1', 'http://localhost.example.com'])(
  'refuses the issuer %s',
  (issuer) => {
    expect(() => jwtOf(issuer)).toThrowError(expect.objectContaining({ place: expect.stringContaining('issuer') }));
  },
);

it('refuses tokens without a store', () => {
  const text = "access: { jwt: { issuer: 'https://a.example', audience: [a], rules: [{}] } }\n";
  expect(() => readGatewayConfig(text, 'twinyard.yaml')).toThrow('tokens need a store');
});
