import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PolicyHost } from '../../policy/host/policy-host.js';
import { OPEN_ADMISSION } from '../../policy/host/policy-settings.js';
import { LIVE } from '../../policy/host/worlds.js';
import { hitTokens } from '../../policy/request-features.js';
import { FollowedRequests } from './followed-requests.js';

const COLUMNS = ['inFlight', 'ongoingTokens', 'pendingPrefillTokens', 'ongoingDecodeTokens'] as const;

const step = fc.record({
  kind: fc.constantFrom('placed', 'placed', 'firstToken', 'ended', 'replicas'),
  request: fc.nat({ max: 7 }),
  replica: fc.nat({ max: 2 }),
  tokens: fc.integer({ min: 1, max: 100 }),
  blocks: fc.nat({ max: 4 }),
  fleet: fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 3, maxLength: 3 }),
});

it('has the counts of the real books when every request is followed, for any sequence', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const settings = {
        ...OPEN_ADMISSION,
        routing: { policy: 'round-robin', options: {} },
        ...{ blockSize: 16, cacheBlocks: 100 },
      };
      const host = new PolicyHost(settings, { world: LIVE, seed: 1, mostReplicas: 4, allBooks: true });
      const followed = new FollowedRequests(4);
      const setReplicas = (ids: string[]) => {
        host.setReplicas(ids);
        followed.setReplicas(ids);
      };
      setReplicas(['a', 'b', 'c']);
      for (const { blocks, fleet, kind, replica, request, tokens } of steps) {
        if (kind === 'replicas') setReplicas(fleet);
        else if (kind === 'placed') {
          const { features } = host;
          host.describe(0, tokens, host.priorities.classOf(''), -1, '');
          Object.assign(features, { blocks: Int32Array.from({ length: blocks }, (_, i) => i), blockCount: blocks });
          host.pick();
          followed.placed(request, replica, tokens, tokens - hitTokens(features, replica), request % 2 === 0);
          host.placed(request, replica);
        } else if (kind === 'firstToken') {
          host.firstToken(request);
          followed.firstToken(request);
        } else {
          host.finished(request);
          followed.ended(request);
        }
        for (const column of COLUMNS) expect([...followed[column]]).toEqual([...host.view[column]]);
      }
    }),
  );
});

it('counts prompts apart whose first token will be seen', () => {
  const followed = new FollowedRequests(2);
  followed.setReplicas(['a', 'b']);
  followed.placed(0, 1, 10, 7, true);
  followed.placed(1, 1, 10, 5, false);
  expect([followed.prefilling[1], followed.prefillingTokens[1], followed.pendingPrefillTokens[1]]).toEqual([1, 7, 12]);
  followed.firstToken(0);
  followed.ended(1);
  expect([followed.prefilling[1], followed.prefillingTokens[1], followed.pendingPrefillTokens[1]]).toEqual([0, 0, 0]);
});
