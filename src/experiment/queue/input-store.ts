import { createHash } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Redis } from 'ioredis';
import { InputError, RunError } from '../../kernel/errors.js';
import { traceChanged } from '../errors.js';
import type { LocalFile, PackedFile } from './packed-inputs.js';
import { chunkKey, inputKey, KEEP_INPUTS_S } from './queue-keys.js';

const CHUNK_BYTES = 1 << 20;

/** Sends inputs to the server once, by their hash, and reads them back. */
export class InputStore {
  readonly #redis: Redis;
  readonly #put = new Map<string, Promise<void>>();
  #sentBytes = 0;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Forgets what was sent: the server may have lost it. */
  forget(): void {
    this.#put.clear();
    this.#sentBytes = 0;
  }

  putText(hash: string, text: string): Promise<void> {
    return this.#once(hash, async () => {
      await this.#redis.set(inputKey(hash), text, 'EX', KEEP_INPUTS_S);
    });
  }

  /** @param mostBytes of all files of this experiment together */
  putFile(file: LocalFile, mostBytes: number): Promise<void> {
    return this.#once(file.sha256, async () => {
      this.#sentBytes += file.bytes;
      if (this.#sentBytes > mostBytes) throw tooLarge(file.path, this.#sentBytes, mostBytes);
      const chunks = Math.ceil(file.bytes / CHUNK_BYTES);
      if ((await this.#redis.exists(inputKey(file.sha256))) === 1) return this.#renew(file.sha256, chunks);
      await this.#sendChunks(file);
      // Last: it says that all of the content is there.
      await this.#redis.set(inputKey(file.sha256), JSON.stringify({ bytes: file.bytes, chunks }), 'EX', KEEP_INPUTS_S);
    });
  }

  async getText(hash: string): Promise<string> {
    const text = await this.#redis.getex(inputKey(hash), 'EX', KEEP_INPUTS_S);
    if (text === null) throw inputsGone(hash);
    return text;
  }

  /** Writes the content to a file, which appears only when its hash is right. */
  async getFile({ bytes, sha256 }: PackedFile, path: string): Promise<void> {
    const chunks = Math.ceil(bytes / CHUNK_BYTES);
    await mkdir(dirname(path), { recursive: true });
    const partial = `${path}.part`;
    const hash = createHash('sha256');
    const target = await open(partial, 'w');
    try {
      for (let i = 0; i < chunks; i++) {
        const chunk = await this.#redis.getBuffer(chunkKey(sha256, i));
        if (chunk === null) throw inputsGone(sha256);
        hash.update(chunk);
        await target.write(chunk);
      }
    } finally {
      await target.close();
    }
    if (hash.digest('hex') !== sha256) throw new RunError('INPUTS_DAMAGED', `input ${sha256} is damaged in the queue`);
    await rename(partial, path);
    await this.#renew(sha256, chunks);
  }

  async #sendChunks({ path, sha256, bytes }: LocalFile): Promise<void> {
    const hash = createHash('sha256');
    const source = await open(path, 'r');
    let sent = 0;
    try {
      for (let chunk = 0; ; chunk++) {
        const piece = Buffer.alloc(CHUNK_BYTES);
        let filled = 0;
        for (let read = 1; read > 0 && filled < CHUNK_BYTES; filled += read) {
          read = (await source.read(piece, filled, CHUNK_BYTES - filled, null)).bytesRead;
        }
        if (filled === 0) break;
        hash.update(piece.subarray(0, filled));
        sent += filled;
        await this.#redis.set(chunkKey(sha256, chunk), piece.subarray(0, filled), 'EX', KEEP_INPUTS_S);
      }
    } finally {
      await source.close();
    }
    if (sent !== bytes || hash.digest('hex') !== sha256) throw traceChanged(path);
  }

  async #renew(hash: string, chunks: number): Promise<void> {
    const pipeline = this.#redis.pipeline().expire(inputKey(hash), KEEP_INPUTS_S);
    for (let i = 0; i < chunks; i++) pipeline.expire(chunkKey(hash, i), KEEP_INPUTS_S);
    await pipeline.exec();
  }

  #once(hash: string, put: () => Promise<void>): Promise<void> {
    const known = this.#put.get(hash) ?? put();
    this.#put.set(hash, known);
    return known;
  }
}

function tooLarge(path: string, bytes: number, most: number): InputError {
  const mib = (value: number) => `${Math.ceil(value / 2 ** 20)} MiB`;
  const problem = `the inputs have at least ${mib(bytes)}, more than the ${mib(most)} that are sent through Redis`;
  const hint = 'put them into a folder that all workers have and name it with --shared-path here and there';
  return new InputError('INPUTS_TOO_LARGE', path, problem, hint);
}

/** Tried again: the coordinator sends them again when the server has lost them. */
function inputsGone(hash: string): RunError {
  return new RunError('INPUTS_GONE', `input ${hash.slice(0, 12)} is not in the queue any more`);
}
