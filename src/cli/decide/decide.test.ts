import { describe, expect, it } from 'vitest';
import { captured } from '../test-io.fixture.js';
import { MOST_EVENT_REPLICAS } from './decide.js';

type Event = Record<string, unknown>;

const replicas = (...ids: string[]): Event => ({ type: 'replicas', ids });
const request = (id: string, more: Event = {}): Event => ({
  type: 'request',
  id,
  input_tokens: 100,
  blocks: [],
  ...more,
});
const finished = (id: string): Event => ({ type: 'finished', id });
const firstToken = (id: string): Event => ({ type: 'first_token', id });
const signals = (replica: string, queued: number): Event => ({
  type: 'signals',
  replica,
  queued,
  running: 0,
  kv_utilization: 0.5,
});

function text(events: readonly (Event | string)[]): string {
  return events.map((event) => `${typeof event === 'string' ? event : JSON.stringify(event)}\n`).join('');
}

/** Runs `decide` with a policy and perhaps more arguments. */
async function decide(args: string | readonly string[], events: readonly (Event | string)[]) {
  const argv = typeof args === 'string' ? args.split(' ') : args;
  return captured(['decide', '--routing-policy', ...argv], { stdin: text(events) });
}

/** The replicas it decides for, of a stream without a mistake. */
async function chosen(args: string | readonly string[], events: readonly (Event | string)[]) {
  const { code, stdout, stderr } = await decide(args, events);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { replica: string | null }).replica);
}

describe('decide', () => {
  it('prints one line per request, and nothing else', async () => {
    const events = [replicas('a', 'b'), request('r1'), request('r2'), firstToken('r1'), finished('r1'), request('r3')];
    expect(await decide('load-only', events)).toEqual({
      code: 0,
      stdout: '{"id": "r1", "replica": "a"}\n{"id": "r2", "replica": "b"}\n{"id": "r3", "replica": "a"}\n',
      stderr: '',
    });
  });

  it('prints null while there is no replica, and places nothing', async () => {
    const events = [request('r1'), replicas('a'), request('r2'), replicas(), request('r3')];
    expect(await chosen('round-robin', events)).toEqual([null, 'a', null]);
  });

  it('reads lines split at any byte', async () => {
    const bytes = new TextEncoder().encode(
      text([replicas('ä', '☃'), '', request('1'), '  ', request('2')])
        .replaceAll('\n', '\r\n')
        .trimEnd(),
    );
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    for (const stdin of [pieces, [bytes], [new TextDecoder().decode(bytes)]]) {
      const { stdout } = await captured('decide --routing-policy round-robin', { stdin });
      expect(stdout).toBe('{"id": "1", "replica": "ä"}\n{"id": "2", "replica": "☃"}\n');
    }
    expect(await captured('decide --routing-policy random')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('uses the last report of a replica', async () => {
    const events = [
      replicas('a', 'b'),
      signals('a', 3),
      signals('b', 4),
      request('r1'),
      signals('a', 9),
      request('r2'),
    ];
    expect(await chosen('least-loaded', events)).toEqual(['a', 'b']);
  });

  it('identifies prompts by their blocks, with any ids', async () => {
    const prompt = (id: string, blocks: unknown[]) => request(id, { input_tokens: 2048, blocks });
    const events = [
      replicas('a', 'b'),
      prompt('r1', [7, 'x', 9007199254740991]),
      prompt('r2', [1]),
      finished('r2'),
      prompt('r3', ['1', 2]),
      finished('r3'),
      finished('r1'),
      prompt('r4', [7, 'x', 5]),
      prompt('r5', [1, 2]),
    ];
    const args = ['weighted', '--policy-options', '{"scorers":"prefix-affinity:2,active-requests:1"}'];
    expect(await chosen(args, events)).toEqual(['a', 'b', 'b', 'a', 'b']);
  });

  it('remembers as many blocks as configured', async () => {
    const events = [
      replicas('a', 'b'),
      request('r1', { blocks: [1, 2] }),
      finished('r1'),
      request('r2', { blocks: [3] }),
      finished('r2'),
      request('r3', { blocks: [1, 2] }),
    ];
    const hits = async (cacheBlocks: string) => {
      const { stdout } = await decide(`load-only --explain --block-size 10 --cache-blocks ${cacheBlocks}`, events);
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!).replicas[0].hit_tokens;
    };
    expect([await hits('0'), await hits('2'), await hits('3')]).toEqual([0, 0, 20]);
  });

  it('draws from a stream of its seed', async () => {
    const events = [replicas('a', 'b', 'c'), ...Array.from({ length: 30 }, (_, i) => request(`r${i}`))];
    const drawn = await chosen('random', events);
    expect(await chosen('random --seed 42', events)).toEqual(drawn);
    expect(await chosen('random --seed 43', events)).not.toEqual(drawn);
    expect(new Set(drawn).size).toBe(3);
  });
});

describe('a fleet that changes', () => {
  it('keeps what it knows of named replicas, in the new order, and starts others empty', async () => {
    const events = [
      replicas('a', 'b', 'c'),
      signals('a', 5),
      signals('b', 2),
      signals('c', 3),
      replicas('c', 'd', 'b'),
      request('r1'),
      request('r2'),
      request('r3'),
      request('r4'),
    ];
    expect(await chosen('least-loaded', events)).toEqual(['d', 'd', 'd', 'b']);
  });

  it('forgets requests with their replica, also when it comes back', async () => {
    const events = [
      replicas('a', 'b'),
      request('r1', { blocks: [1] }),
      request('r2'),
      replicas('b'),
      replicas('b', 'a'),
      request('r3'),
      finished('r2'),
      request('r4'),
    ];
    expect(await chosen('load-only', events)).toEqual(['a', 'b', 'a', 'b']);
    const { code, stdout, stderr } = await decide('load-only', [...events, finished('r1'), request('r5')]);
    expect([code, stdout.split('\n').length]).toEqual([2, 5]);
    expect(stderr).toContain("stdin:9 (id): request 'r1' is not in flight");
  });

  it('has a maximum number of replicas', async () => {
    const names = Array.from({ length: MOST_EVENT_REPLICAS + 1 }, (_, i) => `r${i}`);
    expect(await chosen('round-robin', [replicas(...names.slice(1)), request('r')])).toEqual(['r1']);
    expect((await decide('round-robin', [replicas(...names)])).stderr).toContain(
      'names 4097 replicas; name at most 4096',
    );
  });
});

describe('--explain', () => {
  it('shows what the decision saw of every replica, before the request was placed', async () => {
    const events = [
      replicas('a', 'b'),
      signals('b', 1),
      request('r1', { blocks: [1], input_tokens: 600 }),
      request('r2', { blocks: [1], input_tokens: 600 }),
    ];
    const { stdout } = await decide('lmetric --explain', events);
    const [, second] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(second).toEqual({
      id: 'r2',
      replica: 'b',
      rule: 'least prompt work times requests in flight',
      tied: 1,
      regret: 0,
      flip: {
        change: { replica: 'a', signal: 'in_flight', from: 1, to: 0, chosen: 'a' },
        bounds: { in_flight: [0, 256], pending_prefill_tokens: [0, 2400], routed_blocks: [0, 1] },
        replicas: 2,
        eligible: 2,
        exhaustive: true,
      },
      replicas: [
        {
          id: 'a',
          score: -688,
          facts: { 'hit tokens': 512, 'pending prefill tokens': 600, 'in flight': 1 },
          queued: 0,
          running: 0,
          kv_utilization: 0,
          in_flight: 1,
          ongoing_tokens: 600,
          pending_prefill_tokens: 600,
          ongoing_decode_tokens: 0,
          hit_tokens: 512,
          indexed_blocks: 1,
        },
        {
          id: 'b',
          score: 0,
          facts: { 'hit tokens': 0, 'pending prefill tokens': 0, 'in flight': 0 },
          queued: 1,
          running: 0,
          kv_utilization: 0.5,
          in_flight: 0,
          ongoing_tokens: 0,
          pending_prefill_tokens: 0,
          ongoing_decode_tokens: 0,
          hit_tokens: 0,
          indexed_blocks: 0,
        },
      ],
    });
  });

  it('measures policies without scores by minus the effective load, and names parts and removals', async () => {
    const explained = async (args: string | readonly string[], events: readonly Event[]) => {
      const lines = (await decide(args, events)).stdout.trimEnd().split('\n');
      return JSON.parse(lines.at(-1)!);
    };
    const busy = await explained('round-robin --explain', [replicas('a', 'b'), signals('a', 4), request('r1')]);
    expect(busy).toMatchObject({ replica: 'a', rule: 'its turn', tied: 0, regret: 4 });
    expect(busy.replicas.map(({ score }: { score: number }) => score)).toEqual([-4, 0]);
    expect(busy.replicas[0]).not.toHaveProperty('facts');

    const weighted = await explained(['weighted', '--explain'], [replicas('a'), request('r1')]);
    expect(Object.keys(weighted.replicas[0].terms)).toEqual(['prefix-affinity', 'queue-depth', 'kv-utilization']);

    const drawn = await explained('power-of-two --explain', [replicas('a', 'b', 'c'), request('r1')]);
    expect(drawn.replicas.filter(({ removed }: { removed?: string }) => removed === 'not drawn')).toHaveLength(1);

    expect(await explained('lmetric --explain', [request('r1')])).toEqual({
      id: 'r1',
      replica: null,
      rule: 'no replica is eligible',
      tied: 0,
      regret: 0,
      flip: expect.objectContaining({ change: null, eligible: 0 }),
      replicas: [],
    });
  });
});

describe('flags of decide', () => {
  const refused = async (argv: readonly string[]) => {
    const { code, stdout, stderr } = await captured(['decide', ...argv]);
    expect([code, stdout]).toEqual([2, '']);
    return stderr;
  };

  it('need an existing policy and valid options', async () => {
    expect(await refused([])).toContain('--routing-policy: is required');
    expect(await refused(['--routing-policy', 'lmetrik'])).toContain("did you mean 'lmetric'?");
    const options = (json: string, policy = 'lmetric') => ['--routing-policy', policy, '--policy-options', json];
    expect(await refused(options('{'))).toContain("--policy-options: '{' is not JSON");
    expect(await refused(options('[1]'))).toContain("--policy-options: '[1]' is not a JSON object");
    expect(await refused(options('{"batch_ofset":1}'))).toContain("did you mean 'batch_offset'?");
    expect(await refused(options('{"batch_offset":-1}'))).toContain('--policy-options (batch_offset): -1 is too small');
    expect(await refused(options('{"scorers":"no-hit-lru:1"}', 'weighted'))).toContain('reads replicaCache');
  });

  it('set the block size of the policy, once', async () => {
    const events = [replicas('a'), request('r1', { blocks: [1] }), request('r2', { blocks: [1] })];
    const pending = async (...args: string[]) => {
      const { stdout } = await decide(['lmetric', '--explain', ...args], events);
      return JSON.parse(stdout.split('\n')[1]!).replicas[0].hit_tokens;
    };
    expect(await pending()).toBe(100);
    expect(await pending('--block-size', '16')).toBe(16);
    expect(await pending('--policy-options', '{"block_size":32}')).toBe(32);
    expect(await pending('--policy-options', '{"block_size":32}', '--block-size', '32')).toBe(32);
    expect(
      await refused(['--routing-policy', 'lmetric', '--policy-options', '{"block_size":32}', '--block-size', '16']),
    ).toContain("--block-size: differs from 'block_size' in --policy-options");
  });

  it('have help texts', async () => {
    const { code, stdout } = await captured('decide --help');
    expect(code).toBe(0);
    for (const flag of ['--routing-policy', '--policy-options', '--block-size', '--cache-blocks', '--explain']) {
      expect(stdout).toContain(flag);
    }
  });
});

describe('a bad line', () => {
  const bad: [string, Event | string, string][] = [
    ['no JSON', '{"type":"request",', 'stdin:3:19: is not JSON: the line ends where a property name in double quotes'],
    ['no object', '[1]', 'stdin:3: is not a JSON object'],
    ['no type', {}, 'stdin:3 (type): is missing'],
    ['another type', { type: 'finish', id: 'r0' }, "stdin:3 (type): unknown type 'finish'; did you mean 'finished'?"],
    ['no id', { type: 'request', input_tokens: 1, blocks: [] }, 'stdin:3 (id): is missing'],
    ['an empty id', request(''), 'stdin:3 (id): is not a name'],
    ['an id that is a number', { ...request('x'), id: 3 }, 'stdin:3 (id): is not a name'],
    ['a repeated request', request('r0'), "stdin:3 (id): request 'r0' is a duplicate"],
    ['no tokens', { type: 'request', id: 'x', blocks: [] }, 'stdin:3 (input_tokens): is missing'],
    ['half a token', request('x', { input_tokens: 1.5 }), "stdin:3 (input_tokens): '1.5' is not a count"],
    ['too many tokens', request('x', { input_tokens: 2 ** 31 }), 'is not a count; give a whole number from 0 to'],
    ['no blocks', { type: 'request', id: 'x', input_tokens: 1 }, 'stdin:3 (blocks): is missing'],
    ['blocks that are none', request('x', { blocks: 'abc' }), 'stdin:3 (blocks): is not a list'],
    ['half a block', request('x', { blocks: [1, 2.5] }), "stdin:3 (blocks): '2.5' is not the id of a block"],
    ['a block beyond exact numbers', request('x', { blocks: [2 ** 60] }), 'give whole numbers up to 9007199254740991'],
    ['a session that is a number', request('x', { session_id: 5 }), 'stdin:3 (session_id): is not a string'],
    ['a body that is a text', request('x', { body: 'hello' }), 'stdin:3 (body): is not a JSON object'],
    ['an unknown end', finished('r9'), "stdin:3 (id): request 'r9' is unknown"],
    ['an unknown first token', firstToken('r9'), "stdin:3 (id): request 'r9' is unknown"],
    ['no list of replicas', { type: 'replicas', ids: 'a' }, 'stdin:3 (ids): is not a list of names'],
    ['a nameless replica', replicas('a', ''), 'stdin:3 (ids): is not a list of names'],
    ['a repeated replica', replicas('a', 'b', 'a'), "stdin:3 (ids): 'a' appears twice"],
    ['signals of a stranger', signals('z', 1), "stdin:3 (replica): 'z' is not in the fleet"],
    [
      'signals without a queue',
      { type: 'signals', replica: 'a', running: 1, kv_utilization: 0 },
      '(queued): is missing',
    ],
    ['a negative queue', signals('a', -1), "stdin:3 (queued): '-1' is not a count"],
    [
      'more memory than there is',
      { ...signals('a', 1), kv_utilization: 1.5 },
      "'1.5' is not a share; give a number from 0",
    ],
  ];

  it.each(bad)('with %s ends the run at its line', async (_what, line, message) => {
    const { code, stdout, stderr } = await decide('round-robin', [
      replicas('a', 'b'),
      request('r0'),
      line,
      request('r1'),
    ]);
    expect(stderr).toContain(message);
    expect(stderr.split('\n')).toHaveLength(2);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '{"id": "r0", "replica": "a"}\n' });
  });

  it('is a second first token or end, and one of a request that was never placed', async () => {
    const stderrOf = async (...events: Event[]) => (await decide('load-only', events)).stderr;
    const placed = [replicas('a'), request('r0')];
    expect(await stderrOf(...placed, finished('r0'), finished('r0'))).toContain("stdin:4 (id): request 'r0' is not in");
    expect(await stderrOf(...placed, firstToken('r0'), firstToken('r0'))).toContain('or has had its first token');
    expect(await stderrOf(...placed, finished('r0'), firstToken('r0'))).toContain('stdin:4 (id)');
    expect(await stderrOf(...placed, finished('r0'), request('r0'))).toContain("request 'r0' is a duplicate");
    expect(await stderrOf(request('r0'), finished('r0'))).toContain("stdin:2 (id): request 'r0' is not in flight");
  });

  it('is a request without a body where the policy keys by messages', async () => {
    const events = [replicas('a'), request('r0', { body: { prompt: 'x' } }), request('r1')];
    for (const policy of ['chwbl', 'kubeai-prefix-hash', 'static-hash']) {
      const { code, stdout, stderr } = await decide(policy, events);
      expect([code, stdout]).toEqual([2, '{"id": "r0", "replica": "a"}\n']);
      expect(stderr).toContain(`stdin:3 (body): is missing; give the request body: ${policy} keys by its messages`);
    }
    const byBlocks = ['chwbl', '--policy-options', '{"key":"prefix-blocks"}'];
    const openings = [request('r2', { blocks: ['z'] }), request('r3', { session_id: 's' }), request('r4')];
    expect(await chosen(byBlocks, [replicas('a'), ...openings])).toEqual(['a', 'a', 'a']);
  });
});
