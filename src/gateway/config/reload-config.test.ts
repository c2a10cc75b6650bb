import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from './gateway-config.js';
import { reloadConfig } from './reload-config.js';

const BEFORE = GATEWAY_DEFAULTS;
const TLS = { cert: 'a.pem', key: 'a.key' };

describe('reloadConfig', () => {
  it('applies what can change at run time', () => {
    const after: GatewayConfig = {
      ...BEFORE,
      endpoints: [{ name: 'e', policy: { ...DEFAULT_POLICY, name: 'random' }, replicas: [] }],
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
      limits: { ...BEFORE.limits, bodyBytes: 5000 },
      health: { intervalMs: 10, timeoutMs: 10, failures: 1 },
      breaker: { failures: 1, share: 1, windowMs: 0, openMs: 1 },
      retries: { most: 0, backoffMs: 0, budget: 0 },
      signals: { intervalMs: 10, staleMs: 10 },
      slowStartMs: 1,
      drainMs: 1,
    };
    expect(reloadConfig(BEFORE, after)).toEqual({ config: after, needsRestart: [] });
  });

  it('keeps what is fixed at the start, and reports it', () => {
    const after: GatewayConfig = {
      ...BEFORE,
      listen: { ...BEFORE.listen, port: 1 },
      admin: { ...BEFORE.admin, host: '0.0.0.0' },
      limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 5000, headerBytes: 2048, decisions: 5 },
      decisionLog: 'd.jsonl',
      seed: 7,
    };
    expect(reloadConfig(BEFORE, after)).toEqual({
      config: { ...BEFORE, limits: { ...BEFORE.limits, bodyBytes: 5000 } },
      needsRestart: ['listen', 'admin', 'limits.header_bytes', 'limits.decisions', 'decision_log', 'seed'],
    });
  });

  it('applies other certificates, but does not switch TLS on or off', () => {
    const plain = BEFORE;
    const secure = { ...BEFORE, listen: { ...BEFORE.listen, tls: TLS } };
    const renewed = { ...BEFORE, listen: { ...BEFORE.listen, tls: { ...TLS, cert: 'b.pem' } } };
    expect(reloadConfig(secure, renewed)).toEqual({ config: renewed, needsRestart: [] });
    expect(reloadConfig(plain, secure)).toEqual({ config: plain, needsRestart: ['listen'] });
    expect(reloadConfig(secure, plain)).toEqual({ config: secure, needsRestart: ['listen'] });
  });
});
