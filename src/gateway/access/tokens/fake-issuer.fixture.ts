import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { sendJson } from '../../fake-engine.fixture.js';

export interface Claims {
  readonly [name: string]: unknown;
}

/** A small OpenID Connect issuer on loopback. */
export class FakeIssuer {
  url = '';
  isDown = false;
  nowMs = () => Date.now();
  fetches = 0;
  readonly signers = new Map<string, { alg: string; key: CryptoKey; jwk: JWK }>();
  readonly #server: Server = createServer((request, response) => {
    if (this.isDown) request.socket.destroy();
    else if (request.url === '/.well-known/openid-configuration') {
      sendJson(response, 200, { issuer: this.url, jwks_uri: `${this.url}/keys` });
    } else {
      this.fetches++;
      sendJson(response, 200, { keys: [...this.signers.values()].map(({ jwk }) => jwk) });
    }
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async add(kid: string, alg: string): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.signers.set(kid, { alg, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } });
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** A token with the usual claims but for those given; one that is undefined is left out. */
  signed(claims: Claims = {}, kid = 'rsa'): Promise<string> {
    const { alg, key } = this.signers.get(kid)!;
    return this.signedBy(key, { alg, kid }, claims);
  }

  signedBy(key: CryptoKey | Uint8Array, header: Claims, claims: Claims = {}): Promise<string> {
    const now = Math.floor(this.nowMs() / 1000);
    const usual = { iss: this.url, aud: 'twinyard', sub: 'ann', iat: now, exp: now + 3600, team: 'a' };
    const given = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
    return new SignJWT(Object.fromEntries(given)).setProtectedHeader(header as { alg: string }).sign(key);
  }
}
