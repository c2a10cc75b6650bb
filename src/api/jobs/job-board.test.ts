import { describe, expect, it } from 'vitest';
import { InputError } from '../../kernel/errors.js';
import { JobBoard, type JobWatch } from './job-board.js';

const FACTS = { kind: 'whatif', workspace: 'default', endpoint: 'chat', actor: 'alice', asked: {}, commands: [] };
const LIMITS = { running: 1, waiting: 2, waitingOfWorkspace: 2, waitingOfOne: 2, kept: 3, keptOfOne: 3 };

/** Work that ends when the test says so. */
function held() {
  let finish!: (result: object) => void;
  let fail!: (error: unknown) => void;
  let watch!: JobWatch;
  const result = new Promise<object>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const work = (given: JobWatch) => {
    watch = given;
    given.signal.addEventListener('abort', () => fail(new Error('stopped')));
    return result;
  };
  return { work, finish, fail, watch: () => watch };
}

/** Lets promises that are settled be seen. */
const settled = () => new Promise(setImmediate);

describe('JobBoard', () => {
  it('runs one job at a time, the others in order, and keeps their results', async () => {
    const board = new JobBoard(() => 5, LIMITS);
    const [a, b] = [held(), held()];
    const first = board.create(FACTS, a.work);
    const second = board.create(FACTS, b.work);
    expect([first.state, second.state]).toEqual(['running', 'waiting']);
    a.watch().progress({ stage: 'simulating', done: 3, total: 9 });
    expect(board.get(first.id)!.progress).toEqual({ stage: 'simulating', done: 3, total: 9 });
    a.finish({ answer: 1 });
    await settled();
    expect([first.state, first.result, second.state]).toEqual(['done', { answer: 1 }, 'running']);
    b.fail(new InputError('SOME_CODE', 'file', 'is empty', 'give another'));
    await settled();
    expect([second.state, second.error]).toEqual([
      'failed',
      { code: 'SOME_CODE', message: 'file: is empty', hint: 'give another' },
    ]);
    expect(board.list().map(({ id }) => id)).toEqual([second.id, first.id]);
  });

  it('refuses more than may wait, except work that only waits', () => {
    const board = new JobBoard(() => 0, LIMITS);
    for (let i = 0; i < 3; i++) board.create(FACTS, held().work);
    expect(() => board.create(FACTS, held().work)).toThrow(expect.objectContaining({ code: 'API_JOBS_FULL' }));
    expect(board.create(FACTS, held().work, true).state).toBe('running');
  });

  it('refuses more than may wait of one caller', () => {
    const board = new JobBoard(() => 0, { ...LIMITS, waitingOfOne: 1 });
    for (let i = 0; i < 2; i++) board.create(FACTS, held().work);
    const refused = expect.objectContaining({ code: 'API_JOBS_FULL', place: 'caller alice' });
    expect(() => board.create(FACTS, held().work)).toThrow(refused);
    expect(board.create({ ...FACTS, actor: 'bob' }, held().work).state).toBe('waiting');
  });

  it('refuses more than may wait of one workspace, and gives every workspace its turn', async () => {
    const board = new JobBoard(() => 0, { ...LIMITS, waiting: 9, waitingOfOne: 9, waitingOfWorkspace: 3 });
    const first = held();
    const many = [first, held(), held(), held()].map(({ work }) => board.create(FACTS, work));
    const refused = expect.objectContaining({ code: 'API_JOBS_FULL', place: 'workspace default' });
    expect(() => board.create({ ...FACTS, actor: 'bob' }, held().work)).toThrow(refused);
    const second = held();
    const other = board.create({ ...FACTS, workspace: 'team-a' }, second.work);
    first.finish({});
    await settled();
    expect([other.state, many[1]!.state]).toEqual(['running', 'waiting']);
    second.finish({});
    await settled();
    expect(many[1]!.state).toBe('running');
  });

  it('keeps as many of each workspace, and takes from the largest when there are too many in all', async () => {
    const board = new JobBoard(() => 0, { ...LIMITS, kept: 4, keptOfOne: 3 });
    const ended = async (workspace: string) => {
      board.create({ ...FACTS, workspace }, async () => ({}));
      await settled();
    };
    const kept = () => board.list().map((job) => job.workspace);
    await ended('quiet');
    for (let i = 0; i < 9; i++) await ended('busy');
    expect(kept()).toEqual(['busy', 'busy', 'busy', 'quiet']);
    await ended('third');
    expect(kept()).toEqual(['third', 'busy', 'busy', 'quiet']);
  });

  it('computes while work that only waits goes on', () => {
    const board = new JobBoard(() => 0, LIMITS);
    board.create(FACTS, held().work, true);
    const states = [board.create(FACTS, held().work), board.create(FACTS, held().work)].map(({ state }) => state);
    expect(states).toEqual(['running', 'waiting']);
  });

  it('keeps a bounded number of ended jobs, the latest', async () => {
    const board = new JobBoard(() => 0, LIMITS);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) {
      ids.unshift(board.create(FACTS, async () => ({ i })).id);
      await settled();
    }
    expect(board.list().map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(board.get(ids.at(-1)!)).toBeUndefined();
  });

  it('cancels a job that runs, one that waits, and all when it closes', async () => {
    const board = new JobBoard(() => 0, LIMITS);
    const [a, b, c] = [held(), held(), held()];
    const [running, waiting, last] = [a, b, c].map(({ work }) => board.create(FACTS, work));
    await board.cancel(waiting!.id);
    expect([waiting!.state, waiting!.startedMs]).toEqual(['cancelled', null]);
    await board.cancel(running!.id);
    expect([running!.state, running!.error]).toEqual(['cancelled', null]);
    await settled();
    expect(last!.state).toBe('running');
    await board.close();
    expect(last!.state).toBe('cancelled');
    expect(() => board.create(FACTS, held().work)).toThrow('jobs');
    await board.cancel('none');
  });

  it('shows a follower each change until the end', async () => {
    const board = new JobBoard(() => 0, LIMITS);
    const a = held();
    const { id } = board.create(FACTS, a.work);
    const seen: string[] = [];
    const following = (async () => {
      for await (const { progress, state } of board.follow(id, new AbortController().signal)) {
        seen.push(`${state} ${progress.stage}`);
      }
    })();
    await settled();
    a.watch().progress({ stage: 'reading', done: 0, total: 0 });
    await settled();
    a.finish({});
    await following;
    expect(seen).toEqual(['running waiting', 'running reading', 'done reading']);
  });

  it('stops following when the follower leaves', async () => {
    const board = new JobBoard(() => 0, LIMITS);
    const left = new AbortController();
    const { id } = board.create(FACTS, held().work);
    const seen: string[] = [];
    const following = (async () => {
      for await (const { state } of board.follow(id, left.signal)) seen.push(state);
    })();
    await settled();
    left.abort();
    await following;
    expect(seen).toEqual(['running']);
    for await (const _ of board.follow('none', left.signal)) seen.push('never');
    expect(seen).toHaveLength(1);
  });
});
