import { describe, expect, it } from 'vitest';
import { flowControlOf } from '../bundle/flow-control-schema.js';
import { createFleetView } from '../fleet-view.js';
import type { FlowControlSettings } from '../queueing/flow-control-settings.js';
import { sloPriorities } from '../slo-classes.js';
import { HostedQueue } from './hosted-queue.js';

const settingsOf = (changes: Partial<FlowControlSettings> = {}): FlowControlSettings => ({
  ...flowControlOf({}, {}),
  saturationDetector: 'never',
  maxQueueDepth: 0,
  ...changes,
});
const VIEW = createFleetView(1);
const order = (queue: HostedQueue) => Array.from({ length: queue.size }, () => queue.next(VIEW));

describe('HostedQueue', () => {
  it('dispatches by the priority of the class', () => {
    const queue = new HostedQueue(settingsOf({ dispatchOrder: 'priority' }), sloPriorities({ gold: 9 }));
    for (const [request, sloClass] of ['batch', '', 'gold', 'constructor'].entries()) {
      queue.enqueue(request, sloClass, '', request);
    }
    expect(order(queue)).toEqual([2, 1, 3, 0]);
  });

  it('uses the target of the request, else of its class, for deadlines', () => {
    const sloTargetsUs = { standard: 500, fast: 100 };
    const queue = new HostedQueue(settingsOf({ dispatchOrder: 'slo-deadline', sloTargetsUs }), sloPriorities());
    queue.enqueue(0, 'toString', '', 0);
    queue.enqueue(1, '', '', 0);
    queue.enqueue(2, 'fast', '', 0);
    queue.enqueue(3, 'fast', '', 0, 50);
    expect(order(queue)).toEqual([3, 2, 1, 0]);
  });

  it('holds requests while the fleet is full, if its detector looks at it', () => {
    const queue = new HostedQueue(
      settingsOf({ saturationDetector: 'concurrency', maxConcurrency: 1 }),
      sloPriorities(),
    );
    const busy = createFleetView(1);
    busy.inFlight[0] = 1;
    queue.enqueue(5, '', '', 0);
    expect([queue.readsFleet, queue.next(busy), queue.oldest(), queue.next(VIEW)]).toEqual([true, -1, 5, 5]);
    expect(new HostedQueue(settingsOf(), sloPriorities()).readsFleet).toBe(false);
  });

  it('keeps places when settings change, and applies new limits to new requests', () => {
    const queue = new HostedQueue(settingsOf(), sloPriorities());
    for (let request = 0; request < 3; request++) queue.enqueue(request, '', '', request);
    queue.configure(settingsOf({ maxQueueDepth: 2 }), sloPriorities());
    expect([queue.size, queue.enqueue(3, '', '', 3), queue.settings.maxQueueDepth]).toEqual([3, 'rejected', 2]);
    expect([queue.remove(1), queue.remove(1), order(queue)]).toEqual([true, false, [0, 2]]);
  });

  it('reorders all requests where classes have changed, and loses none to a lower limit', () => {
    const queue = new HostedQueue(settingsOf(), sloPriorities());
    const classes = ['x', 'y'];
    classes.forEach((sloClass, request) => {
      queue.enqueue(request, sloClass, '', request);
    });
    queue.reorder(settingsOf({ maxQueueDepth: 1 }), sloPriorities({ y: 50 }), () => {
      classes.forEach((sloClass, request) => {
        queue.enqueue(request, sloClass, '', request);
      });
    });
    const all: number[] = [];
    queue.forEach((request) => {
      all.push(request);
    });
    expect([all, queue.enqueue(2, 'x', '', 2), order(queue)]).toEqual([[1, 0], 'rejected', [1, 0]]);
  });

  it('reports the request that lost its place', () => {
    const settings = settingsOf({ maxQueueDepth: 1, queueShedding: true });
    const queue = new HostedQueue(settings, sloPriorities());
    queue.enqueue(0, 'batch', '', 0);
    expect([queue.displaced, queue.enqueue(1, 'critical', '', 1), queue.displaced]).toEqual([-1, 'displaced', 0]);
  });
});
