import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('../examples/llama', import.meta.url));

interface Vocabulary {
  tokens: string[];
  merges: string[];
}

/** The example is plain JavaScript with a package of its own: nothing of it is installed here. */
async function example<T>(name: string): Promise<T> {
  return import(pathToFileURL(join(FOLDER, name)).href);
}

describe('the scripts', () => {
  test.each(readdirSync(FOLDER).filter((name) => name.endsWith('.mjs')))('%s can be read', (name) => {
    const { status, stderr } = spawnSync(process.execPath, ['--check', join(FOLDER, name)], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('the model', () => {
  const SHAPE = { seed: 7, layers: 2, hidden: 64 };
  let modelFile: (shape: object) => Buffer;
  let vocabulary: Vocabulary;
  beforeAll(async () => {
    ({ modelFile } = await example<{ modelFile: typeof modelFile }>('make-model.mjs'));
    vocabulary = (await example<{ vocabulary: () => Vocabulary }>('vocabulary.mjs')).vocabulary();
  });

  test('is a file in which every tensor is where its header says', () => {
    const bytes = modelFile(SHAPE);
    const { metadata, tensors, dataFrom } = readGguf(bytes);
    expect(metadata.get('general.architecture')).toBe('llama');
    expect(metadata.get('llama.block_count')).toBe(2);
    expect(metadata.get('tokenizer.ggml.tokens')).toEqual(vocabulary.tokens);
    expect(metadata.get('tokenizer.ggml.token_type')).toHaveLength(vocabulary.tokens.length);
    expect(metadata.get('tokenizer.ggml.eos_token_id')).toBe(vocabulary.tokens.indexOf('<|end|>'));
    expect(tensors.map(({ name }) => name)).toEqual(expect.arrayContaining(['token_embd.weight', 'output.weight']));
    expect(tensors).toHaveLength(3 + 9 * 2);
    let end = 0;
    for (const { offset, size } of tensors) {
      expect(offset).toBe(Math.ceil(end / 32) * 32);
      end = offset + size;
    }
    expect(bytes.length).toBe(dataFrom + Math.ceil(end / 32) * 32);
  });

  test('is the same for the same seed, and another for another', () => {
    expect(modelFile(SHAPE).equals(modelFile(SHAPE))).toBe(true);
    expect(modelFile(SHAPE).equals(modelFile({ ...SHAPE, seed: 8 }))).toBe(false);
  });

  test('has a vocabulary in which a word is a token', () => {
    const { merges, tokens } = vocabulary;
    expect(new Set(tokens).size).toBe(tokens.length);
    const words = tokens.filter((token) => /^Ġ[a-z]{3}$/.test(token));
    expect(words).toHaveLength(100);
    for (const word of words) expect(merged([...word], merges)).toEqual([word]);
    expect(merged([...'Ġzzz'], merges)).toEqual([...'Ġzzz']);
    for (const merge of merges) expect(tokens).toContain(merge.replace(' ', ''));
  });
});

/** Byte-pair encoding as it is defined: the pair of the lowest rank first. */
function merged(pieces: string[], merges: readonly string[]): string[] {
  const ranks = pieces.slice(1).map((piece, i) => merges.indexOf(`${pieces[i]} ${piece}`));
  const known = ranks.filter((rank) => rank >= 0);
  if (known.length === 0) return pieces;
  const at = ranks.indexOf(Math.min(...known));
  return merged([...pieces.slice(0, at), pieces[at]! + pieces[at + 1]!, ...pieces.slice(at + 2)], merges);
}

interface Tensor {
  name: string;
  offset: number;
  size: number;
}

/** Reads the format from its definition, for as much of it as the model uses. */
function readGguf(bytes: Buffer): { metadata: Map<string, unknown>; tensors: Tensor[]; dataFrom: number } {
  let at = 0;
  const u32 = () => {
    at += 4;
    return bytes.readUInt32LE(at - 4);
  };
  const u64 = () => {
    at += 8;
    return Number(bytes.readBigUInt64LE(at - 8));
  };
  const text = () => {
    const length = u64();
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const value = (type: number): unknown => {
    if (type === 4) return u32();
    if (type === 5) return u32() | 0;
    if (type === 6) return new Float32Array(Uint32Array.of(u32()).buffer)[0];
    if (type === 7) return bytes[at++] === 1;
    if (type === 8) return text();
    expect(type).toBe(9);
    const itemType = u32();
    return Array.from({ length: u64() }, () => value(itemType));
  };
  expect(bytes.toString('latin1', 0, 4)).toBe('GGUF');
  at = 4;
  expect(u32()).toBe(3);
  const [tensorCount, keyCount] = [u64(), u64()];
  const metadata = new Map(Array.from({ length: keyCount }, () => [text(), value(u32())]));
  const tensors = Array.from({ length: tensorCount }, () => {
    const name = text();
    const weights = Array.from({ length: u32() }, u64).reduce((product, one) => product * one);
    const type = u32();
    // Floats of four bytes, or blocks of 32 with two bytes for the scale.
    return { name, offset: u64(), size: type === 0 ? 4 * weights : (34 * weights) / 32 };
  });
  return { metadata, tensors, dataFrom: Math.ceil(at / 32) * 32 };
}
