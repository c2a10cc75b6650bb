import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Bodies of 16 MiB that take long to read. */
const BYTES = 16 * 1024 * 1024 - 200;
const IDLE_MS = 500;
const filled = (unit: string) => unit.repeat(Math.floor(BYTES / Buffer.byteLength(unit)));
const completion = (prompt: string) => ['/v1/completions', `{"model":"m","prompt":${prompt}}`] as const;
const chat = (messages: string) => ['/v1/chat/completions', `{"model":"m","messages":${messages}}`] as const;
const message = (content: string) => `{"role":"user","content":${content}}`;

const KINDS: Readonly<Record<string, () => readonly [path: string, body: string]>> = {
  brackets: () => completion(filled('[')),
  objects: () => completion(`[${filled('{},')}`),
  text: () => completion(`"${filled('some words of text ')}"`),
  'one string': () => completion(`"${filled('x')}"`),
  escapes: () => completion(`"${filled('\\n')}"`),
  'Unicode escapes': () => completion(`"${filled('\\ud83d\\ude00')}"`),
  'non-ASCII text': () => completion(`"${filled('äöü日本語😀')}"`),
  numbers: () => completion(`[${filled('7,')}7]`),
  'small strings': () => completion(`[${filled('"",')}""]`),
  'parts of text': () => chat(`[${message(`[${filled('"",')}""]`)}]`),
  messages: () => chat(`[${`${message(`"${'y'.repeat(140)}"`)},`.repeat(90_000)}${message('"z"')}]`),
};

export interface Delay {
  kind: string;
  /** The longest time that another request took meanwhile. */
  worstMs: number;
}

/**
 * Sends each kind of body, and measures in another process how long small requests take meanwhile; and once without a
 * body, which says how busy the machine is.
 */
export async function delaysOf(port: number): Promise<{ delays: Delay[]; idleMs: number }> {
  const prober = fork(fileURLToPath(new URL('./prober.js', import.meta.url)), [String(port)]);
  const worst = async () => {
    prober.send('worst');
    return (await once(prober, 'message'))[0] as number;
  };
  const delays: Delay[] = [];
  try {
    await once(prober, 'message');
    await sleep(IDLE_MS);
    await worst();
    await sleep(IDLE_MS);
    const idleMs = await worst();
    for (const [kind, made] of Object.entries(KINDS)) {
      const [path, body] = made();
      const bytes = Buffer.from(body);
      await worst();
      await sendBody(port, path, bytes);
      delays.push({ kind, worstMs: await worst() });
    }
    return { delays, idleMs };
  } finally {
    prober.kill();
  }
}

/** Sends a body on a connection of its own. Resolves when the response has begun, or the connection is closed. */
export function sendBody(port: number, path: string, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).on('close', () => resolve());
    socket.on('data', () => socket.destroy());
    socket.write(`POST ${path} HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
}
