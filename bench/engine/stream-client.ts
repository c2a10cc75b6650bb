import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { SseScanner } from '../../src/protocol/sse/sse-scanner.js';
import { isDoneEvent } from '../../src/protocol/sse/sse-writer.js';

/** When things happened to one request, in milliseconds. */
export interface Timing {
  sentMs: number;
  /** When each chunk with text came. */
  chunksMs: number[];
  doneMs: number;
}

export const agent = new Agent({ keepAlive: true });

/** Sends one streaming chat completion and records the time of every chunk. */
export function streamChat(url: string, body: object): Promise<Timing> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const timing: Timing = { sentMs: performance.now(), chunksMs: [], doneMs: 0 };
    let nowMs = 0;
    const scanner = new SseScanner({
      event(bytes, from, to) {
        if (isDoneEvent(bytes, from, to)) timing.doneMs = nowMs;
        // The first event of a chat completion names the role and has no text.
        else timing.chunksMs.push(nowMs);
      },
    });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => {
        nowMs = performance.now();
        scanner.push(chunk);
      });
      response.on('end', () => {
        timing.chunksMs.shift();
        resolve(timing);
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
