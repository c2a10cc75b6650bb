/**
 * The field names that are read in a response or in the data of a stream event, and where they are: the response of
 * chat and plain completions, embeddings and the like, of `/v1/responses` and `/v1/messages`, and llama.cpp's
 * `timings`.
 */

/** The kind of the object or array that the scan is inside of. */
export const Inside = {
  nothing: 0,
  response: 1,
  /** `response` or `message`: a response that an event carries. */
  holder: 2,
  usage: 3,
  promptDetails: 4,
  inputDetails: 5,
  completionDetails: 6,
  outputDetails: 7,
  timings: 8,
  choices: 9,
  choice: 10,
  delta: 11,
} as const;

/** Numbers that are counted, in tokens if nothing else is written. */
export const Count = {
  prompt: 1,
  input: 2,
  completion: 3,
  output: 4,
  total: 5,
  cacheRead: 6,
  cacheCreation: 7,
  promptCached: 8,
  inputCached: 9,
  completionReasoning: 10,
  outputReasoning: 11,
  timingsCached: 12,
  /** Of audio. */
  seconds: 13,
} as const;

/** Fields below this are counts. */
export const FIRST_OTHER = 14;

/** The kind of a value. */
export const Field = {
  unknown: 0,
  usage: 14,
  response: 15,
  message: 16,
  timings: 17,
  choices: 18,
  choice: 19,
  delta: 20,
  /** Something that is output unless it is empty. */
  output: 21,
  type: 22,
  error: 23,
  promptDetails: 24,
  inputDetails: 25,
  completionDetails: 26,
  outputDetails: 27,
} as const;

type Names = Readonly<Record<string, number>>;

const NAMES: readonly (readonly [inside: number, names: Names])[] = [
  [
    Inside.response,
    {
      usage: Field.usage,
      response: Field.response,
      message: Field.message,
      timings: Field.timings,
      choices: Field.choices,
      type: Field.type,
      error: Field.error,
    },
  ],
  [Inside.holder, { usage: Field.usage }],
  [
    Inside.usage,
    {
      prompt_tokens: Count.prompt,
      input_tokens: Count.input,
      completion_tokens: Count.completion,
      output_tokens: Count.output,
      total_tokens: Count.total,
      seconds: Count.seconds,
      cache_read_input_tokens: Count.cacheRead,
      cache_creation_input_tokens: Count.cacheCreation,
      prompt_tokens_details: Field.promptDetails,
      input_tokens_details: Field.inputDetails,
      completion_tokens_details: Field.completionDetails,
      output_tokens_details: Field.outputDetails,
    },
  ],
  [Inside.promptDetails, { cached_tokens: Count.promptCached }],
  [Inside.inputDetails, { cached_tokens: Count.inputCached }],
  [Inside.completionDetails, { reasoning_tokens: Count.completionReasoning }],
  [Inside.outputDetails, { reasoning_tokens: Count.outputReasoning }],
  [Inside.timings, { cache_n: Count.timingsCached }],
  [Inside.choice, { delta: Field.delta, text: Field.output }],
  // All other members of a delta are output: text, reasoning, a refusal, calls of tools.
  [Inside.delta, { role: Field.unknown }],
];

/** What an object is inside of when it is the value of a field; nothing when it is skipped. */
export const OBJECT_OF = new Uint8Array(28);
OBJECT_OF[Field.usage] = Inside.usage;
OBJECT_OF[Field.response] = Inside.holder;
OBJECT_OF[Field.message] = Inside.holder;
OBJECT_OF[Field.timings] = Inside.timings;
OBJECT_OF[Field.choice] = Inside.choice;
OBJECT_OF[Field.delta] = Inside.delta;
OBJECT_OF[Field.promptDetails] = Inside.promptDetails;
OBJECT_OF[Field.inputDetails] = Inside.inputDetails;
OBJECT_OF[Field.completionDetails] = Inside.completionDetails;
OBJECT_OF[Field.outputDetails] = Inside.outputDetails;

interface Name {
  readonly bytes: Uint8Array;
  readonly field: number;
}

/** Longer than any name here, and than any type of event that matters. */
export const LONGEST_NAME = 48;

/** By where a name stands and a few bits of it: the only name it can be, or nothing. */
const SLOTS = 64;
const KNOWN: (Name | null)[] = new Array((Inside.delta + 1) * SLOTS).fill(null);
for (const [inside, names] of NAMES) {
  for (const [name, field] of Object.entries(names)) {
    const bytes = Buffer.from(name);
    const slot = slotOf(inside, bytes, 0, bytes.length);
    if (KNOWN[slot] !== null) throw new Error(`'${name}' needs its own slot`);
    KNOWN[slot] = { bytes, field };
  }
}

function slotOf(inside: number, bytes: Uint8Array, from: number, to: number): number {
  return inside * SLOTS + (((to - from) * 5 + bytes[from]! * 3 + bytes[to - 1]!) & (SLOTS - 1));
}

/** The field of a name. A name written with escapes is unknown. */
export function fieldOf(inside: number, bytes: Uint8Array, from: number, to: number): number {
  if (to > from) {
    const known = KNOWN[slotOf(inside, bytes, from, to)]!;
    if (known !== null && known.bytes.length === to - from && isAt(bytes, from, known.bytes)) return known.field;
  }
  return inside === Inside.delta ? Field.output : Field.unknown;
}

/** What the type of an event of `/v1/responses` or `/v1/messages` means. */
export const EventType = { other: 0, output: 1, end: 2, failure: 3 } as const;

const TYPES: readonly Name[] = [
  { bytes: Buffer.from('content_block_delta'), field: EventType.output },
  { bytes: Buffer.from('response.completed'), field: EventType.end },
  { bytes: Buffer.from('response.incomplete'), field: EventType.end },
  { bytes: Buffer.from('message_stop'), field: EventType.end },
  { bytes: Buffer.from('response.failed'), field: EventType.failure },
  { bytes: Buffer.from('error'), field: EventType.failure },
];
const DELTA = Buffer.from('.delta');

export function eventTypeOf(bytes: Uint8Array, from: number, to: number): number {
  for (let i = 0; i < TYPES.length; i++) {
    const type = TYPES[i]!;
    if (type.bytes.length === to - from && isAt(bytes, from, type.bytes)) return type.field;
  }
  const isDelta = to - from > DELTA.length && to - from <= LONGEST_NAME && isAt(bytes, to - DELTA.length, DELTA);
  return isDelta ? EventType.output : EventType.other;
}

function isAt(bytes: Uint8Array, from: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name[i]) return false;
  return true;
}
