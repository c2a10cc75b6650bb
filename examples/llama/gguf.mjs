// Writes a model in llama.cpp's file format, GGUF version 3: little-endian, metadata, a list of tensors, their bytes.

const VERSION = 3;
const ALIGNMENT = 32;
const STRING = 8;
const ARRAY = 9;

/** Scalars of the metadata: their numbers in the format, their sizes and how they are written. */
const SCALARS = {
  u32: { type: 4, bytes: 4, write: (buffer, value) => buffer.writeUInt32LE(value) },
  i32: { type: 5, bytes: 4, write: (buffer, value) => buffer.writeInt32LE(value) },
  f32: { type: 6, bytes: 4, write: (buffer, value) => buffer.writeFloatLE(value) },
  bool: { type: 7, bytes: 1, write: (buffer, value) => buffer.writeUInt8(value ? 1 : 0) },
};

/** Kinds of tensors: their numbers in the format. */
export const TENSOR = { f32: 0, q8_0: 8 };

/**
 * The bytes of a file.
 * @param {Record<string, string | string[] | number[] | { u32?: number, i32?: number, f32?: number, bool?: boolean }>} metadata
 *   an array of numbers is one of 32-bit integers
 * @param {{ name: string, type: number, shape: number[], data: Buffer }[]} tensors the fastest dimension first
 */
export function ggufFile(metadata, tensors) {
  const entries = Object.entries(metadata);
  const head = [
    Buffer.from('GGUF'),
    scalar('u32', VERSION),
    u64(tensors.length),
    u64(entries.length),
    ...entries.flatMap(([key, value]) => [text(key), ...metadataValue(value)]),
  ];
  let offset = 0;
  for (const { name, type, shape, data } of tensors) {
    head.push(text(name), scalar('u32', shape.length), ...shape.map(u64), scalar('u32', type), u64(offset));
    offset += data.length + paddingOf(data.length);
  }
  const bytes = Buffer.concat(head);
  return Buffer.concat([bytes, padding(bytes), ...tensors.flatMap(({ data }) => [data, padding(data)])]);
}

function metadataValue(value) {
  if (typeof value === 'string') return [scalar('u32', STRING), text(value)];
  if (!Array.isArray(value)) {
    const [[kind, number]] = Object.entries(value);
    return [scalar('u32', SCALARS[kind].type), scalar(kind, number)];
  }
  const isText = typeof value[0] === 'string';
  const items = value.map((item) => (isText ? text(item) : scalar('i32', item)));
  return [scalar('u32', ARRAY), scalar('u32', isText ? STRING : SCALARS.i32.type), u64(value.length), ...items];
}

function scalar(kind, value) {
  const buffer = Buffer.alloc(SCALARS[kind].bytes);
  SCALARS[kind].write(buffer, value);
  return buffer;
}

function u64(value) {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function text(value) {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}

function paddingOf(length) {
  return (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;
}

function padding(bytes) {
  return Buffer.alloc(paddingOf(bytes.length));
}
