import { ObservedEngines } from '../../gateway/prediction/observed-engines.js';
import { finishedRequest } from '../../gateway/request/finished-request.fixture.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import { EngineProfiles, type EngineProfilesParts } from './engine-profiles.js';
import type { FitJob } from './fit/fit-engine.js';
import type { FitRun } from './fit/fit-thread.js';
import type { ProfileScore } from './fit/profile-score.js';
import type { ProfiledEndpoint, ProfiledReplica } from './profiled-endpoint.js';

export const MINUTE = 60e6;

export const scoreOf = (error: number): ProfileScore => ({
  ...{ requests: 50, ttft: error, itl: error, e2e: error, mean: error },
});

/** What a fit returns: a profile with this name. */
export function fitRun(name: string, error: number, currentError: number | null): FitRun {
  return {
    outcome: {
      profile: { ...fakeProfile(), name },
      score: scoreOf(error),
      currentScore: currentError === null ? null : scoreOf(currentError),
      fitted: 100,
    },
    busyMs: 1000,
    restMs: 19_000,
  };
}

/** An endpoint `chat` with one replica, a clock of its own, and fits as the test wants them. */
export class FakeFleet {
  nowUs = 1000 * MINUTE;
  readonly observed = new ObservedEngines();
  readonly warnings: string[] = [];
  readonly events: string[] = [];
  readonly jobs: FitJob[] = [];
  /** By replica. */
  readonly applied = new Map<string, LatencyProfile | null>();
  fit: (job: FitJob) => FitRun | Promise<FitRun> = () => fitRun('first', 0.1, null);
  version = '0.10.0';
  maxModelLen = 4096;
  kvBlocks = 1000;
  /** True over predicted latencies. */
  slower = 1;
  readonly endpoints = new Map<string, ProfiledEndpoint & { replicas: readonly ProfiledReplica[] }>([
    [
      'chat',
      {
        name: 'chat',
        managed: null,
        replicas: [this.replica('r0')],
        profiles: { set: (id: string, profile: LatencyProfile | null) => void this.applied.set(id, profile) },
      },
    ],
  ]);

  replica(id: string, hardware = ''): ProfiledReplica {
    const pageOf = (path: string) =>
      path === '/version'
        ? JSON.stringify({ version: this.version })
        : `vllm:cache_config_info{block_size="16",num_gpu_blocks="${this.kvBlocks}"} 1`;
    return {
      ...{ id, engine: 'vllm', hardware, tp: 0, engineKey: hardware === '' ? 'vllm' : `vllm@${hardware}` },
      ...{ external: null, loadPath: '/metrics', state: 'ready', readySinceMs: 1, models: new Set(['m']) },
      cards: new Map([['m', { id: 'm', max_model_len: this.maxModelLen }]]),
      page: async (path) => ({ status: 200, text: pageOf(path) }),
    };
  }

  profiles(parts: Partial<EngineProfilesParts> = {}): EngineProfiles {
    return new EngineProfiles({
      ...{
        endpoints: () => this.endpoints,
        observed: this.observed,
        nowUs: () => this.nowUs,
        epochUs: 0,
        folder: null,
      },
      makeFit: async (job) => {
        this.jobs.push(job);
        return this.fit(job);
      },
      warn: (line) => this.warnings.push(line),
      event: (endpoint, type, reason, message) => this.events.push(`${endpoint} ${type} ${reason}: ${message}`),
      ...parts,
    });
  }

  /** Requests every two seconds, and a tick every ten; predictions where there is a profile. */
  async run(profiles: EngineProfiles, minutes: number, engine = 'vllm'): Promise<void> {
    for (let i = 0; i < 30 * minutes; i++) {
      this.nowUs += 2e6;
      const isPredicted = (this.applied.get('r0') ?? null) !== null;
      const dispatchedUs = this.nowUs - 1e6;
      this.observed.of('chat', engine)!.finished(
        finishedRequest({
          ...{ dispatchedUs, firstTokenUs: dispatchedUs + 50_000 * this.slower },
          ...{ endedUs: dispatchedUs + 240_000 * this.slower, outputTokens: 20 },
          ...(isPredicted ? { predictedTtftUs: 50_000, predictedItlUs: 10_000 } : {}),
        }),
      );
      if (i % 5 === 4) {
        await profiles.tick();
        await profiles.settled();
      }
    }
  }
}
