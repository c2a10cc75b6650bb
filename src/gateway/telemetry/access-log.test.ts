import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { finishedRequest } from '../request/finished-request.fixture.js';
import type { FinishedRequest } from '../request/request-record.js';
import { AccessLog, IsoTime } from './access-log.js';

const EPOCH_US = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000;

function logged(write: (log: AccessLog) => void): string[] {
  const lines: string[] = [];
  write(new AccessLog({ write: (line) => lines.push(line) }, EPOCH_US));
  return lines;
}

describe('AccessLog', () => {
  it('writes a line of JSON per request', () => {
    const lines = logged((log) => log.ended(finishedRequest({ attempts: 2 }), '10.0.0.9'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: '2026-01-02T03:04:15.000Z',
        id: 'request-1',
        client: '10.0.0.9',
        method: 'POST',
        path: '/v1/chat/completions',
        endpoint: 'chat',
        model: 'm',
        key: 'abcdefghijkl',
        tenant: 'team',
        status: 200,
        outcome: 'ok',
        cause: null,
        replica: 'r0',
        attempts: 2,
        policy: 'weighted',
        rule: 'highest weighted score',
        streamed: true,
        input_tokens: 100,
        cached_tokens: 64,
        output_tokens: 20,
        reasoning_tokens: 5,
        metered: true,
        queue_ms: 2,
        ttft_ms: 150,
        duration_ms: 1000,
      },
    ]);
  });

  it('writes nothing that its page does not explain', () => {
    const page = readFileSync(new URL('../../../docs/telemetry.md', import.meta.url), 'utf8');
    const [line] = logged((log) => log.ended(finishedRequest(), '::1'));
    for (const field of Object.keys(JSON.parse(line!))) expect(page).toMatch(new RegExp(`^\\|[^|]*\`${field}\``, 'm'));
  });

  it('writes null for what did not happen', () => {
    const change: Partial<FinishedRequest> = {
      ...{ keyId: '', tenant: '', replicaId: '', policy: '', rule: '', cause: 'the queue is full' },
      ...{ status: 503, attempts: 0, firstTokenUs: -1, queuedUs: -1, dispatchedUs: -1 },
      outcome: 'no_replica',
    };
    const [line] = logged((log) => log.ended(finishedRequest(change), ''));
    expect(JSON.parse(line!)).toMatchObject({
      ...{ client: null, key: null, tenant: null, replica: null, policy: null, rule: null },
      ...{ queue_ms: null, ttft_ms: null, cause: 'the queue is full', status: 503 },
    });
  });

  it('writes the known fields of requests that reached no endpoint', () => {
    const lines = logged((log) => log.refused('request-2', 401, 'wrong key', '10.0.0.9', 1_000_000));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: '2026-01-02T03:04:06.000Z',
        id: 'request-2',
        client: '10.0.0.9',
        status: 401,
        outcome: 'refused',
        cause: 'wrong key',
      },
    ]);
  });

  it('writes one line per request, whatever names contain', () => {
    const nasty = 'a\nb\r\u0000\u001b[31m"\\\u007f\u0085\u009b\u2028\u2029é';
    const lines = logged((log) => {
      log.ended(finishedRequest({ id: nasty, model: nasty, tenant: nasty, endpoint: { name: nasty } }), nasty);
      log.refused(nasty, 400, nasty, nasty, 0);
    });
    expect(lines.length).toBe(2);
    for (const line of lines) {
      expect(line).toMatch(/^[\x20-\x7eé]+$/);
      const { client, id } = JSON.parse(line);
      expect([client, id]).toEqual([nasty, nasty]);
    }
  });

  it('contains no keys, prompts, sessions or classes', () => {
    const planted = { session: 'planted-1', sloClass: 'planted-2', recordedBlocks: 'planted-3' };
    expect(logged((log) => log.ended(finishedRequest(planted), '::1')).join()).not.toContain('planted');
  });
});

it('writes what Date writes', () => {
  const iso = new IsoTime();
  for (const ms of [0, 999, 1000, 1_700_000_000_123, 1_700_000_000_999, 1_700_000_001_000, 1_700_000_000_007, 999.9]) {
    expect(iso.text(ms)).toBe(new Date(Math.floor(ms)).toISOString());
  }
});
