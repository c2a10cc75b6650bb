import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inTestFolder } from '../test-folder.fixture.js';
import { captured } from '../test-io.fixture.js';

inTestFolder(() => {
  writeFileSync('t.jsonl', '{"timestamp": 0, "input_length": 10, "output_length": 3, "hash_ids": [0]}\n');
  writeFileSync('no-trace.txt', 'hello\n');
});

/** Nothing listens at this address: invalid flags must be found before the first request. */
const SERVER = '--server-url http://127.0.0.1:1 --model m';
const RATE = `observe ${SERVER} --rate 5`;
const TRACE = `observe ${SERVER} --trace t.jsonl`;

describe('bad input of observe is one line that names the flag, and code 2', () => {
  const table: [args: string, message: string][] = [
    ['observe', '--server-url: is required'],
    ['observe --server-url http://127.0.0.1:1 --rate 5', '--model: is required'],
    [`observe ${SERVER}`, '--rate: or another plan is required; give one of --trace, --workload-spec'],
    [`observe ${SERVER} --num-requests 5`, '--rate: or another plan is required'],
    ['observe --server-url here --model m', "--server-url: 'here' is not a URL"],
    ['observe --server-url ftp://a --model m', "--server-url: 'ftp://a' is not an address of a web server"],
    ['observe --server-url http://a?x=1 --model m', "--server-url: 'http://a?x=1' has more than a path"],
    ['observe --server-url http://me:secret@a --model m', '--server-url: has a user name or password'],
    [`${RATE} --api-format responses`, "--api-format: 'responses' is not known"],
    [`${RATE} --api-key a --api-key b`, '--api-key: given twice; keep one of them'],
    [`${RATE} --api-key é`, '--api-key: is empty or has characters that are not allowed in a key'],
    [`${RATE} --header nonsense`, '--header: is not a header'],
    [`${RATE} --header a:1 --header a:2`, "--header (number 2): 'a' is given twice"],
    [`${RATE} --header host:x`, "--header: 'host' is set for every request already"],
    [`${RATE} --no-streaming=yes`, '--no-streaming: is a switch'],
    [`${RATE} --max-concurrency 0`, '--max-concurrency:'],
    [`${RATE} --warmup-requests -1`, '--warmup-requests:'],
    [`${RATE} --num-requests 5 --warmup-requests 6`, '--warmup-requests: 6 is more than the 5 requests of the plan'],
    [`${TRACE} --warmup-requests 2`, '--warmup-requests: 2 is more than the 1 request of the plan'],
    [`${RATE} --prewarm-duration soon`, '--prewarm-duration:'],
    [`${RATE} --max-lateness-ms -1`, '--max-lateness-ms:'],
    [`${RATE} --rtt-ms x`, '--rtt-ms:'],
    [`${RATE} --timeout 0`, '--timeout:'],
    [`${RATE} --horizon 0`, '--horizon:'],
    [`${RATE} --tp 0`, '--tp:'],
    [`${RATE} --max-num-seqs 0`, '--max-num-seqs:'],
    [`${RATE} --max-num-batched-tokens 0`, '--max-num-batched-tokens:'],
    [`${RATE} --block-size-in-tokens 0`, '--block-size-in-tokens:'],
    [`${RATE} --gpu-memory-utilization 2`, '--gpu-memory-utilization:'],
    [`${RATE} --total-kv-blocks 0`, '--total-kv-blocks:'],
    [`${RATE} --max-model-len -1`, '--max-model-len:'],
    [`${RATE} --concurrency 4`, '--rate: contradicts --concurrency'],
    [`${RATE} --think-time-ms 5`, '--think-time-ms: no client waits'],
    [`${RATE} --workload-spec x.yaml --prompt-tokens 5`, '--prompt-tokens: --workload-spec sets it for each client'],
    [`${RATE} --workload-spec x.yaml`, 'x.yaml: no such file'],
    [`observe ${SERVER} --workload nothing`, "--workload: 'nothing' is not known"],
    [`${RATE} --trace-model m`, '--trace-model: there is no trace'],
    [`${RATE} --trace-answered`, '--trace-answered: there is no trace'],
    [`${RATE} --session-mode closed-loop`, '--session-mode: there is no trace'],
    [`${RATE} --think-time-dist constant:value=1s`, '--think-time-dist: there is no trace'],
    [`${TRACE} --rate 3`, '--rate: --trace sets what is sent'],
    [`${TRACE} --workload-spec x`, '--workload-spec: --trace sets what is sent'],
    [`${TRACE} --num-requests 3`, '--num-requests: --trace sets what is sent'],
    [`${TRACE} --think-time-ms 3`, '--think-time-ms: turns are sent at their recorded times'],
    [
      `${TRACE} --session-mode closed-loop --think-time-ms 3 --think-time-dist constant:value=1s`,
      '--think-time-dist: given together with --think-time-ms',
    ],
    [`observe ${SERVER} --trace no-trace.txt`, 'no-trace.txt: is not a trace of a known format'],
    [
      `observe ${SERVER} --trace missing`,
      'missing: no such file; give a trace file, or the common name of a TraceV2 pair',
    ],
    [`${TRACE} --trace-answered`, 't.jsonl: mooncake traces do not record'],
    [`${RATE} --trace-output a --trace-data b`, '--trace-data: --trace-output names the files'],
    [`${RATE} --trace-data b.csv`, '--trace-header: is required with --trace-data'],
    [`${RATE} --trace-header b.yaml`, '--trace-data: is required with --trace-header'],
    [`${RATE} --trace-header a --trace-data a`, '--trace-data: names'],
    [`${RATE} --trace-output no/where/x`, "--trace-output: cannot write 'no/where/x.yaml'"],
    [`${TRACE} --trace-header a.yaml --trace-data t.jsonl`, '--trace-data: would overwrite'],
    [`${RATE} --itl-output a.csv`, '--itl-output: --record-itl is not given'],
    [`${RATE} --record-itl`, '--itl-output: is required with --record-itl'],
    [`${RATE} --record-itl --itl-output a.csv --no-streaming`, '--record-itl: responses are not streamed'],
    [`${RATE} --kv-metrics-output a.csv`, '--kv-metrics-output: --scrape-kv-metrics is not given'],
    [`${RATE} --scrape-interval-ms 500`, '--scrape-interval-ms: --scrape-kv-metrics is not given'],
    [`${RATE} --scrape-kv-metrics`, '--kv-metrics-output: is required with --scrape-kv-metrics'],
    [`${RATE} --scrape-kv-metrics --scrape-interval-ms 1 --trace-output a`, '--scrape-interval-ms:'],
    [`${RATE} --format xml`, "--format: 'xml' is not known"],
    [`${RATE} extra`, "'extra': unexpected argument"],
    [`${RATE} --server-ulr x`, 'did you mean --server-url?'],
  ];
  it.each(table)('%s', async (args, message) => {
    const { code, stderr, stdout } = await captured(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it('does not show values that may be secret', async () => {
    const given = [...RATE.split(' '), '--header', 'x y: sk-secret'];
    expect((await captured(given)).stderr).not.toContain('secret');
    expect((await captured('observe --server-url http://me:secret@a --model m')).stderr).not.toContain('secret');
  });

  it('finds a bad key in the environment', async () => {
    const { code, stderr } = await captured(RATE, { env: { OPENAI_API_KEY: 'a\u0007b' } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('OPENAI_API_KEY: is empty or has characters')]);
  });
});

it('fails when the server cannot be reached', async () => {
  const { code, stderr, stdout } = await captured(RATE);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'twinyard: http://127.0.0.1:1: the list of models: no connection (ECONNREFUSED); start the server, or give the address it listens on\n',
  );
});
