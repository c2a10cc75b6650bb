import { createHash } from 'node:crypto';

/** Bytes that look like nothing in particular, the same every time. */
export function fakeBytes(length: number, seed: string): Buffer {
  const pieces: Buffer[] = [];
  for (let i = 0; i * 32 < length; i++) pieces.push(createHash('sha256').update(`${seed} ${i}`).digest());
  return Buffer.concat(pieces).subarray(0, length);
}

export const TINY_CONFIG = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_act: 'silu',
  hidden_size: 64,
  intermediate_size: 128,
  max_position_embeddings: 2048,
  num_attention_heads: 8,
  num_hidden_layers: 2,
  num_key_value_heads: 2,
  torch_dtype: 'bfloat16',
  vocab_size: 256,
};

type Tensor = { dtype: string; shape: number[] };

const ELEMENT_BYTES: Readonly<Record<string, number>> = { F32: 4, I64: 8, I32: 4, BF16: 2, F16: 2, F8_E4M3: 1, U8: 1 };

/** A safetensors file with zeros for weights. */
export function safetensors(tensors: Readonly<Record<string, Tensor>>): Buffer {
  let at = 0;
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  for (const [name, { dtype, shape }] of Object.entries(tensors)) {
    const bytes = shape.reduce((product, one) => product * one, ELEMENT_BYTES[dtype]!);
    header[name] = { dtype, shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  return withHeader(Buffer.from(JSON.stringify(header)), at);
}

/** Any header, followed by `bytes` bytes of weights. */
export function withHeader(header: Buffer, bytes: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(bytes)]);
}

/** A model with a large file, a small one, an empty one and one in a folder. */
export function tinyModel(seed: string): Record<string, Buffer> {
  return {
    'config.json': Buffer.from(JSON.stringify(TINY_CONFIG)),
    'empty.txt': Buffer.alloc(0),
    'model.safetensors': fakeBytes(300_000, seed),
    'notes/read me.txt': Buffer.from(`of ${seed}`),
  };
}
