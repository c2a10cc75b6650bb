import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { COMPARE, entries, inCalibrationFolder, seen, write } from './calibration-folder.fixture.js';

inCalibrationFolder();

describe('bad input is one line that names the place, and code 2', () => {
  const rows: [name: string, args: string, message: string, files?: Record<string, unknown>][] = [
    ['no trace', 'calibrate --sim-results results.json', '--trace: is required; give --trace-data'],
    ['no data', 'calibrate --trace-header seen.yaml --sim-results x', '--trace-data: is required with --trace-header'],
    ['two names', `${COMPARE} --trace-data seen.csv`, '--trace-data: --trace seen names the trace already'],
    ['two traces', `${COMPARE} --trace other`, '--trace: names two traces; results are those of one'],
    ['no results', 'calibrate --trace seen', "--sim-results: is required; give the file of 'replay --results-path'"],
    ['no such trace', 'calibrate --trace nowhere --sim-results results.json', 'nowhere.csv: no such file'],
    ['no such results', 'calibrate --trace seen --sim-results no.json', 'no.json: no such file'],
    [
      'no prediction',
      `${COMPARE} --hit-rate-tolerance-pp 3`,
      '--hit-rate-tolerance-pp: no cache hit rate is predicted',
    ],
    ['the report over an input', `${COMPARE} --report results.json`, "--report: would overwrite 'results.json'"],
    ['a threshold below 0', `${COMPARE} --e2e-mape-threshold -1`, "--e2e-mape-threshold: '-1' is too small"],
    ['not JSON', COMPARE, 'results.json:2:3: ', { 'results.json': Buffer.from('[{},\n  oops]') }],
    ['no list', COMPARE, 'results.json: holds no list of requests; give the file', { 'results.json': { a: 1 } }],
    ['a text', COMPARE, 'results.json: holds no list of requests', { 'results.json': 'text' }],
    ['an empty list', COMPARE, 'results.json: the list of requests is empty', { 'results.json': [] }],
    ['no object', COMPARE, 'results.json ([1]): is not an object', { 'results.json': [entries()[0], 7] }],
    [
      'a missing column',
      COMPARE,
      'results.json (requests[0].e2e_us): is missing; give the file',
      { 'results.json': { requests: [{ request_id: 1, ttft_us: 1 }] } },
    ],
    [
      'another unit',
      COMPARE,
      'results.json ([0].ttft_ms): times are in ms, not in microseconds',
      { 'results.json': [{ request_id: 1, ttft_ms: 1, e2e_ms: 2 }] },
    ],
    [
      'another unit of the trace',
      COMPARE,
      "seen.yaml:2:12 (time_unit): unknown value 'ms'",
      { 'seen.yaml': Buffer.from('trace_version: 3\ntime_unit: ms\n') },
    ],
    [
      'a negative time',
      COMPARE,
      'results.json ([0].ttft_us): -5 is not accepted; give a number from 0, or null',
      { 'results.json': entries((entry) => ({ ...entry, ttft_us: -5 })) },
    ],
    [
      'an invalid length',
      COMPARE,
      'results.json ([0].input_tokens): null is not accepted; give a number from 0',
      { 'results.json': entries((entry) => ({ ...entry, input_tokens: null })) },
    ],
    [
      'an invalid id',
      COMPARE,
      'results.json ([0].request_id): "seven" is not a request id',
      { 'results.json': entries((entry) => ({ ...entry, request_id: 'seven' })) },
    ],
    [
      'an id that appears twice',
      COMPARE,
      'results.json ([1].request_id): request_3 appears twice, first as [0]',
      { 'results.json': entries((entry) => ({ ...entry, request_id: 3 })) },
    ],
    [
      'results of other requests',
      COMPARE,
      'results.json: none of its 5 requests (request_70, request_71, request_72, ...) is among the 5 of the trace (request_0, request_1, request_2, ...)',
      { 'results.json': entries((entry, i) => ({ ...entry, request_id: 70 + i })) },
    ],
    [
      'results of chats alone',
      COMPARE,
      'results.json: none of its 1 requests (turn of a session) is among the 5 of the trace',
      { 'results.json': [{ ...entries()[0], request_id: 'session_s0_round_1_4' }] },
    ],
    [
      'results of other lengths',
      COMPARE,
      'results.json: 5 of 5 requests have other lengths than in the trace: request_0 100 + 11, not 100 + 10 tokens;',
      { 'results.json': entries((entry) => ({ ...entry, output_tokens: 11 })) },
    ],
    [
      'nothing but warm-up',
      `${COMPARE} --warmup-requests 9`,
      '--warmup-requests: all 5 requests of the trace are warm-up',
    ],
    [
      'nothing predicted',
      COMPARE,
      'results.json: of 5 requests on both sides 0 had no response and 5 no prediction',
      { 'results.json': entries((entry) => ({ ...entry, e2e_us: null })) },
    ],
    [
      'a trace without observed times',
      COMPARE,
      "seen.csv: none of 5 requests has a response time; give a trace that 'observe' or a gateway recorded",
      {
        'seen.csv': Buffer.from(
          seen(Array.from({ length: 5 }, () => ({ first_chunk_time_us: '0', last_chunk_time_us: '0' }))),
        ),
      },
    ],
    [
      'a format without responses',
      'calibrate --trace mooncake.jsonl --sim-results results.json',
      'mooncake.jsonl: none of 1 requests has a response time',
      { 'mooncake.jsonl': { timestamp: 0, input_length: 100, output_length: 10, hash_ids: [1] } },
    ],
    [
      'metrics without a hit rate',
      `${COMPARE} --sim-metrics m.json`,
      'm.json: holds no cache_hit_rate',
      { 'm.json': { cluster: {} } },
    ],
    [
      'metrics with an impossible one',
      `${COMPARE} --sim-metrics m.json`,
      'm.json: the hit rate 7 is not from 0 to 1',
      { 'm.json': { cache_hit_rate: 7 } },
    ],
    [
      'pieces without their columns',
      `${COMPARE} --itl-data itl.csv`,
      "itl.csv:1:1: column 'chunk_index' is missing",
      { 'itl.csv': Buffer.from('request_id,us\n1,2\n') },
    ],
    [
      'no pieces',
      `${COMPARE} --itl-data itl.csv`,
      'itl.csv: holds no times',
      { 'itl.csv': Buffer.from('request_id,chunk_index,timestamp_us\n') },
    ],
    [
      'a piece that came at no time',
      `${COMPARE} --itl-data itl.csv`,
      "itl.csv:2:5 (timestamp_us): 'soon' is not a number",
      { 'itl.csv': Buffer.from('request_id,chunk_index,timestamp_us\n1,0,soon\n') },
    ],
  ];
  it.each(rows)('%s', async (_, args, message, files = {}) => {
    for (const [path, content] of Object.entries(files)) {
      if (Buffer.isBuffer(content)) writeFileSync(path, content);
      else write(path, content);
    }
    const { code, stderr, stdout } = await twinyard(args);
    expect(stderr).toContain(message);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 });
  });
});
