import { GATEWAY_DEFAULTS, type GatewayConfig, type PolicyConfig } from '../../gateway/gateway-config.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import { missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { ServeFlags } from '../flags/serve-flags.js';

/** What the flags ask for, complete and checked. */
export async function gatewayConfig({ values }: FlagValues<ServeFlags>): Promise<GatewayConfig> {
  if (values.replica.length === 0) {
    throw missingFlag(
      '--replica',
      'is required',
      'give it once for each replica, as in --replica http://127.0.0.1:9001',
    );
  }
  const policy: PolicyConfig = {
    name: values['routing-policy'],
    options: values['policy-options'],
    blockSize: values['block-size'],
    cacheBlocks: values['cache-blocks'],
  };
  policyOptions(routingPolicy(policy.name), policy.options, '--policy-options');
  return {
    ...GATEWAY_DEFAULTS,
    listen: { host: values.host ?? GATEWAY_DEFAULTS.listen.host, port: values.port, tls: null },
    admin: { ...GATEWAY_DEFAULTS.admin, port: values['admin-port'] },
    endpoints: [
      {
        name: 'default',
        policy,
        replicas: values.replica.map((url) => ({ id: new URL(url).host, url, engine: values.engine, models: null })),
      },
    ],
    drainMs: values.drain * 1000,
    decisionLog: values['decision-log'],
    seed: values.seed,
  };
}
