import { describe, expect, it } from 'vitest';
import { draining } from '../../errors.js';
import { FakeWaiting } from '../../flow/fake-waiting.fixture.js';
import type { LiveReplica } from '../replica/live-replica.js';
import { type AwaitingReplica, ReadyLine } from './ready-line.js';

class FakeHoping extends FakeWaiting implements AwaitingReplica {
  readonly tried: LiveReplica[] = [];
  readonly queuedUs = 7;
  readonly over: Promise<void>;
  #settle!: () => void;

  constructor() {
    super();
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  waitExpired(): void {
    this.heard.push('nobody came');
    this.#settle();
  }
}

const LONG = 1e6;

describe('ReadyLine', () => {
  it('releases requests that can be placed, in order, and keeps the others', () => {
    const line = new ReadyLine();
    const all = [new FakeHoping(), new FakeHoping(), new FakeHoping()];
    for (const one of all) expect(line.join(one, LONG)).toBe(true);
    const asked: AwaitingReplica[] = [];
    line.changed((one) => {
      asked.push(one);
      return one !== all[1];
    });
    expect([asked, line.size]).toEqual([all, 1]);
    expect(all.map(({ heard }) => heard)).toEqual([['went after 7'], [], ['went after 7']]);
    line.leave(all[1]!);
    expect(line.size).toBe(0);
  });

  it('reports an expired wait', async () => {
    const line = new ReadyLine();
    const one = new FakeHoping();
    line.join(one, 1);
    await one.over;
    expect([one.heard, line.size]).toEqual([['nobody came'], 0]);
  });

  it('accepts no request without a wait time, nor when it is closed', () => {
    const line = new ReadyLine();
    const [one, two] = [new FakeHoping(), new FakeHoping()];
    expect(line.join(one, 0)).toBe(false);
    line.join(one, LONG);
    line.close(draining(), 'draining');
    expect([one.heard, one.error?.status]).toEqual([['draining'], 503]);
    expect([line.join(two, LONG), line.size]).toEqual([false, 0]);
  });
});
