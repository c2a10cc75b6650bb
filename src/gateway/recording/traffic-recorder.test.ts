import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sloPriorities } from '../../policy/slo-classes.js';
import { RotatedLines } from '../lines/rotated-lines.js';
import { fakeFacts } from '../request/fake-facts.fixture.js';
import { MeasuredPrompt } from '../request/measured-prompt.js';
import type { FinishedRequest } from '../request/request-record.js';
import { recordedRequest } from './recorder.fixture.js';
import { TrafficRecorder } from './traffic-recorder.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

const KEY = Buffer.alloc(32, 7);
const EPOCH_US = 1_751_360_400_000_000;

/** The recorded lines of requests, as text. */
function recorded(use: (recorder: TrafficRecorder) => void, key = KEY): string {
  const path = join(folder, 'traffic.jsonl');
  rmSync(path, { force: true });
  const failed = (error: unknown) => {
    throw error;
  };
  const lines = new RotatedLines({ path, maxBytes: 1e6, files: 1, failed });
  const recorder = new TrafficRecorder({ lines, key, epochUs: EPOCH_US });
  use(recorder);
  recorder.flush();
  recorder.close();
  return readFileSync(path, 'utf8');
}

const record = (changes: Partial<FinishedRequest> = {}, key = KEY) =>
  JSON.parse(recorded((recorder) => recorder.record(recordedRequest(changes)), key));

function prompt(text: string): MeasuredPrompt {
  const blocks = new MeasuredPrompt();
  blocks.read(fakeFacts({ body: { prompt: text } }), 16);
  return blocks;
}

describe('TrafficRecorder', () => {
  it('writes one line for a request, with these keys in this order', () => {
    const text = recorded((recorder) => {
      recorder.record(
        recordedRequest({ keyId: 'k', tenant: 'team "a"', recordedBlocks: '["aaaaaaaaaaa","bbbbbbbbbbb"]' }),
      );
      recorder.record(recordedRequest());
    });
    expect(text.split('\n')).toEqual([
      '{"t_us":1751360401000000,"id":"7d9f6b1e-40a5-4f0e-9a53-7b1d2d1c0a11","endpoint":"default","model":"qwen/qwen3-14b",' +
        '"tenant":"team \\"a\\"","session":null,"slo_class":"standard","input_tokens":40,"cached_tokens":16,' +
        '"output_tokens":24,"block_size":16,"blocks":["aaaaaaaaaaa","bbbbbbbbbbb"],"replica":"engine-0",' +
        '"dispatch_us":1751360401000200,"first_token_us":1751360401030000,"end_us":1751360401500000,' +
        '"status":200,"outcome":"ok"}',
      expect.stringContaining('"tenant":null,'),
      '',
    ]);
  });

  it('writes null for what did not happen', () => {
    const refused = record({
      ...{ replicaId: '', status: 429, outcome: 'client_error', isMetered: false, sloClass: '' },
      ...{ dispatchedUs: -1, firstTokenUs: -1, cachedTokens: 0, outputTokens: 0, blockSize: 0 },
    });
    expect(refused).toMatchObject({
      ...{ replica: null, dispatch_us: null, first_token_us: null, cached_tokens: null, output_tokens: null },
      ...{ input_tokens: 38, blocks: [], status: 429, slo_class: null, end_us: EPOCH_US + 1_500_000 },
    });
    const broken = record({ isMetered: false, outputTokens: 5, outcome: 'client_left' });
    expect(broken).toMatchObject({ cached_tokens: null, output_tokens: 5, outcome: 'client_left' });
  });

  it('gives prompts with a common prefix the same first blocks, at any time and in any order', () => {
    const long = 'the same words for everybody, again and again. '.repeat(20);
    const first = prompt(long);
    const second = prompt(`${long.slice(0, 300)} and now for something else ${long}`);
    const list = (recorder: TrafficRecorder, { blockCount, blockWords }: MeasuredPrompt) =>
      JSON.parse(recorder.blocksOf(blockWords, blockCount)) as string[];
    recorded((recorder) => {
      const [a, b] = [list(recorder, first), list(recorder, second)];
      expect([a.length, b.length]).toEqual([first.blockCount, second.blockCount]);
      expect(a.slice(0, 4)).toEqual(b.slice(0, 4));
      expect(a.slice(4).filter((id) => b.includes(id))).toEqual([]);
      expect(new Set([...a, ...b]).size).toBe(a.length + b.length - 4);
      for (const id of a) expect(id).toMatch(/^[\w-]{11}$/);
      expect(list(recorder, first)).toEqual(a);
      recorded((again) => expect(list(again, first)).toEqual(a));
      recorded((other) => expect(list(other, first)[0]).not.toBe(a[0]), Buffer.alloc(32, 8));
      expect(recorder.blocksOf(first.blockWords, 0)).toBe('[]');
    });
  });

  it('distinguishes far more blocks than it remembers', () => {
    recorded((recorder) => {
      const count = 200_000;
      const words = new Int32Array(2 * count).map((_, i) => Math.imul(i >> 1, 0x9e3779b1) ^ i);
      const once = JSON.parse(recorder.blocksOf(words, count)) as string[];
      expect(new Set(once).size).toBe(count);
      const last = recorder.blocksOf(words.subarray(2 * count - 200), 100);
      expect(JSON.parse(last)).toEqual(once.slice(-100));
      expect(JSON.parse(recorder.blocksOf(words, 100))).toEqual(once.slice(0, 100));
      // Zero is a valid word too.
      expect(JSON.parse(recorder.blocksOf(new Int32Array(2), 1))[0]).toMatch(/^[\w-]{11}$/);
    });
  });

  it('records sessions, tenants without a key and unknown classes as distinct hashes', () => {
    const [a, b] = [record({ session: 'kim' }), record({ session: 'lee' })];
    expect([a.session === b.session, a.session === record({ session: 'kim' }).session]).toEqual([false, true]);
    expect(record({ session: 'kim' }, Buffer.alloc(32, 8)).session).not.toBe(a.session);
    expect(new Set([a.session, record({ sloClass: 'kim' }).slo_class, record({ tenant: 'kim' }).tenant]).size).toBe(3);
    expect(['critical', 'kim'].map((sloClass) => record({ sloClass }).slo_class)).toEqual([
      'critical',
      expect.stringMatching(/^[\w-]{11}$/),
    ]);
  });

  it('records a class by its name as soon as the policy of its endpoint defines it', () => {
    const text = recorded((recorder) => {
      for (const classes of [sloPriorities(), sloPriorities({ night: -1 }), sloPriorities()]) {
        for (const sloClass of ['night', 'kim', 'batch']) recorder.record(recordedRequest({ sloClass }), classes);
      }
    });
    const classes = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).slo_class);
    const hash = expect.stringMatching(/^[\w-]{11}$/);
    expect(classes).toEqual([hash, hash, 'batch', 'night', hash, 'batch', hash, hash, 'batch']);
    expect([classes[0], classes[1]]).toEqual([classes[6], classes[4]]);
  });

  it('forgets names when there are many, and goes on', () => {
    const text = recorded((recorder) => {
      for (let i = 0; i < 5000; i++) recorder.record(recordedRequest({ keyId: 'k', tenant: `t${i}` }));
      recorder.record(recordedRequest({ keyId: 'k', tenant: 't0' }));
    });
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).tenant)
        .slice(-2),
    ).toEqual(['t4999', 't0']);
  });

  it('holds no text of a client, and no plain hash of one', () => {
    const secrets = ['hunter2 is my password', 'mail@example.com', 'sk-planted-key', 'planted class', 'planted tenant'];
    const [spoken, session, id, sloClass, tenant] = secrets as [string, string, string, string, string];
    const blocks = prompt(`${spoken}, ${'and so on '.repeat(50)}`);
    const text = recorded((recorder) => {
      const recordedBlocks = recorder.blocksOf(blocks.blockWords, blocks.blockCount);
      recorder.record(recordedRequest({ id, session, sloClass, tenant, recordedBlocks, cause: spoken }));
    });
    expect(JSON.parse(text).blocks.length).toBe(blocks.blockCount);
    for (const secret of secrets) {
      expect(text).not.toContain(secret);
      for (const algorithm of ['md5', 'sha1', 'sha256']) {
        for (const form of ['hex', 'base64', 'base64url'] as const) {
          const hash = createHash(algorithm).update(secret).digest(form);
          expect(text).not.toContain(hash.slice(0, 8));
        }
      }
    }
    for (let i = 0; i < blocks.blockCount; i++) {
      const word = Buffer.alloc(4);
      word.writeInt32LE(blocks.blockWords[2 * i]!);
      expect(text).not.toContain(word.toString('hex'));
      expect(text).not.toContain(String(blocks.blocks[i]));
    }
  });
});
