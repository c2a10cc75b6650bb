// Creates a small language model with random weights: llama's architecture, its own vocabulary, the same bytes for the
// same seed. Its output is noise, but llama.cpp takes as long as for any model of its size.
//
//   node make-model.mjs [--out model.gguf] [--seed 1] [--layers 6] [--hidden 320]
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ggufFile, TENSOR } from './gguf.mjs';
import { vocabulary } from './vocabulary.mjs';

const HEAD_SIZE = 64;
const CONTEXT = 4096;
/** Weights of a block of Q8_0, which has a scale for all of them. */
const BLOCK = 32;

/** The bytes of the model's file. */
export function modelFile({ seed = 1, layers = 6, hidden = 320 } = {}) {
  const { tokens, kinds, merges, spoken } = vocabulary();
  const heads = hidden / HEAD_SIZE;
  const inner = hidden * 3;
  const random = randomBytes(seed);
  /** A matrix that preserves the norm of its input; only its last `filled` rows are random, the others 0. */
  const matrix = (name, columns, rows, { gain = 1, filled = rows } = {}) => {
    const data = quantized(random, columns, rows, filled, gain / Math.sqrt(columns));
    return { name: `${name}.weight`, type: TENSOR.q8_0, shape: [columns, rows], data };
  };
  const norm = (name) => {
    const data = Buffer.from(new Float32Array(hidden).fill(1).buffer);
    return { name: `${name}.weight`, type: TENSOR.f32, shape: [hidden], data };
  };
  const layer = (i) => [
    norm(`blk.${i}.attn_norm`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => matrix(`blk.${i}.${name}`, hidden, hidden)),
    norm(`blk.${i}.ffn_norm`),
    ...['ffn_gate', 'ffn_up'].map((name) => matrix(`blk.${i}.${name}`, hidden, inner)),
    matrix(`blk.${i}.ffn_down`, inner, hidden),
  ];
  const metadata = {
    'general.architecture': 'llama',
    'general.name': 'noise',
    'llama.context_length': { u32: CONTEXT },
    'llama.embedding_length': { u32: hidden },
    'llama.block_count': { u32: layers },
    'llama.feed_forward_length': { u32: inner },
    'llama.attention.head_count': { u32: heads },
    'llama.attention.head_count_kv': { u32: heads },
    'llama.attention.layer_norm_rms_epsilon': { f32: 1e-5 },
    'llama.rope.dimension_count': { u32: HEAD_SIZE },
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': kinds,
    'tokenizer.ggml.merges': merges,
    'tokenizer.ggml.eos_token_id': { u32: tokens.length - 1 },
    'tokenizer.ggml.add_bos_token': { bool: false },
  };
  return ggufFile(metadata, [
    matrix('token_embd', hidden, tokens.length, { gain: Math.sqrt(hidden) }),
    ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
    norm('output_norm'),
    // Rows of zeros make bytes and marks unlikely, so the output consists of words.
    matrix('output', hidden, tokens.length, { gain: 4, filled: spoken }),
  ]);
}

/** Rows of random weights with a standard deviation near the given one: per block a scale, a power of two, and its bytes. */
function quantized(random, columns, rows, filled, deviation) {
  const perRow = columns / BLOCK;
  const bytes = Buffer.alloc(rows * perRow * (2 + BLOCK));
  // Bytes from -128 to 127 deviate by 74. The exponent of a half is above its 10 bits of fraction, with a bias of 15.
  const scale = (15 + Math.round(Math.log2(deviation / 74))) << 10;
  for (let block = (rows - filled) * perRow; block < rows * perRow; block++) {
    const from = block * (2 + BLOCK);
    bytes.writeUInt16LE(scale, from);
    for (let i = 2; i < 2 + BLOCK; i += 4) bytes.writeInt32LE(random(), from + i);
  }
  return bytes;
}

/** Four random bytes at a time: a counter, scrambled. */
function randomBytes(seed) {
  let counter = seed | 0;
  return () => {
    counter = (counter + 0x9e3779b9) | 0;
    let mixed = Math.imul(counter ^ (counter >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: 'model.gguf' },
      seed: { type: 'string', default: '1' },
      layers: { type: 'string', default: '6' },
      hidden: { type: 'string', default: '320' },
    },
  });
  const { out, ...numbers } = values;
  const shape = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
  const bytes = modelFile(shape);
  writeFileSync(out, bytes);
  console.error(`${out}: ${(bytes.length / 1e6).toFixed(1)} MB`);
}
