import { exponential } from '../../kernel/distributions.js';
import { randomStream } from '../../kernel/random-stream.js';
import { fakeConfig } from '../../replica/fake-replica.fixture.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { fakeCluster } from '../../simulator/fake-cluster.fixture.js';
import { simulate } from '../../simulator/simulate.js';
import { RequestTable } from '../../workload/request-table.js';

const BLOCK = 16;
/** In the past, as in recordings. */
const EPOCH_US = 1_790_000_000_000_000;

/** A replica of a small model: 20 ms for a prompt of 1,000 tokens, 5 ms for a step that only decodes. */
export const PROFILE: LatencyProfile = {
  version: 1,
  name: 'small engine',
  model: 'qwen/qwen3-14b',
  hardware: 'H100',
  tp: 1,
  step: {
    decodeOnly: [
      { tokens: 1, us: 5000 },
      { tokens: 101, us: 6000 },
    ],
    withPrefill: [
      { tokens: 1, us: 5000 },
      { tokens: 1001, us: 25_000 },
    ],
    ...{ decodeContextUs: 0.05, mixedContextUs: 0.05, sharedContext: 1, unevenContextUs: 0, mixedUnevenContextUs: 0 },
    ...{ mixedDecodeUs: 0, prefillPairUs: 0.002, prefillLongestUs: 0, prefillRequestUs: 50, requestUs: 20 },
    launch: null,
  },
  request: { queueingUs: 2000, outputTokenUs: 0, postDecodeUs: 0 },
  scheduler: {},
};

export const REPLICA: ReplicaModelConfig = {
  ...fakeConfig({ totalKvBlocks: 2000, blockSize: BLOCK, maxNumSeqs: 32, maxNumBatchedTokens: 2048 }),
  ...{ model: 'qwen/qwen3-14b', hardware: 'H100', maxModelLen: 8192, engineRules: 'vllm-v1' },
  moeCommBackend: 'naive',
  ...{ latencyModel: 'profile', latencyProfile: PROFILE },
};

export interface RecordedTraffic {
  seed?: number;
  requests?: number;
  /** Requests per second. */
  rate?: number;
  /** Prompts begin with one of so many prefixes of 1,200 tokens; 0: nothing is shared. */
  prefixes?: number;
}

/** Requests as they arrive: Poisson, prompts of a prefix and a question, responses of 40 to 120 tokens. */
export function trafficTable({
  prefixes = 12,
  rate = 30,
  requests = 600,
  seed = 1,
}: RecordedTraffic = {}): RequestTable {
  const random = randomStream(seed, 'traffic');
  const table = new RequestTable(requests);
  let atUs = 0;
  for (let i = 0; i < requests; i++) {
    const row = table.append();
    atUs += exponential(random, 1e6 / rate);
    table.arrivalUs[row] = Math.round(atUs);
    const own = 80 + random.below(240);
    table.outputTokens[row] = 40 + random.below(81);
    if (prefixes === 0) table.inputTokens[row] = 600 + own;
    else {
      // The first are asked for most.
      const group = table.prefixGroups.index(`prefix-${Math.floor(prefixes * random.next() ** 2)}`);
      table.prefixGroup[row] = group;
      table.prefixTokens[group] = 1200;
      table.inputTokens[row] = 1200 + own;
    }
  }
  return table;
}

/** A live run of the traffic: ties are drawn, signals are a second old. */
export function served(
  traffic: RecordedTraffic,
  changes: Partial<ClusterConfig> & Pick<ClusterConfig, 'routing'>,
  engine: { replica: ReplicaModelConfig; latency: LatencyModel } = {
    replica: REPLICA,
    latency: profileLatency(PROFILE),
  },
) {
  const config = fakeCluster({ instances: 4, snapshotRefreshUs: 1_000_000, routingLatencyUs: 200, ...changes });
  const table = trafficTable(traffic);
  return simulate({ ...config, replica: engine.replica }, { table }, engine.latency);
}

/** The lines of a gateway that recorded this run. @param epochUs when it began */
export function recordingOf(
  { outcomes, table }: ReturnType<typeof served>,
  changes: object = {},
  epochUs = EPOCH_US,
): string {
  const lines = Array.from({ length: table.count }, (_, row) => {
    const at = epochUs + table.arrivalUs[row]!;
    const blocks = Math.floor(table.inputTokens[row]! / BLOCK);
    const shared = Math.floor((table.prefixTokens[table.prefixGroup[row]!] ?? 0) / BLOCK);
    return JSON.stringify({
      ...{ t_us: at, id: `r${row}`, endpoint: 'default', model: 'm', tenant: null, session: null },
      ...{ slo_class: 'standard', input_tokens: table.inputTokens[row], cached_tokens: null },
      ...{ output_tokens: table.outputTokens[row], block_size: BLOCK },
      blocks: Array.from({ length: blocks }, (_, i) =>
        i < shared ? `p${table.prefixGroup[row]}-${i}` : `r${row}-${i}`,
      ),
      ...{ replica: `replica-${outcomes.instance[row]}`, dispatch_us: at + 200 },
      first_token_us: at + Math.round(outcomes.ttftUs[row]!),
      ...{ end_us: at + Math.round(outcomes.e2eUs[row]!), status: 200, outcome: 'ok', ...changes },
    });
  });
  return `${lines.join('\n')}\n`;
}
