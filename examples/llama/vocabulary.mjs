// A vocabulary for a model that has nothing to say: every byte, a hundred common words with the space before them, and
// the marks of a chat. Byte-level byte-pair encoding, as GPT-2 has it.

/** Those that `twinyard observe` makes its prompts of: a word is a token. */
const WORDS = [
  'the and for are but not you all any can had her was one our out day get has him his how man new now',
  'old see two way who boy did its let put say she too use big box car cat cup dog ear eye far few fly',
  'fun got hot ice job key law leg lot low map may men mix net oil own pay pen per red run sea set sir',
  'sit six sky son sun tax tea ten top try war wet win yes yet air arm art bad bag bar bed bit ago aid',
]
  .join(' ')
  .split(' ');

/** What ends a response, and what a turn of a chat begins with. */
export const MARKS = { end: '<|end|>', system: '<|system|>', user: '<|user|>', assistant: '<|assistant|>' };

/** Kinds of tokens: their numbers in the format. */
const NORMAL = 1;
const CONTROL = 3;

/**
 * Tokens in the order of their ids with their kinds; what is merged, in the order of its rank; how many of the last tokens are
 * what a random model may say: words and the end.
 */
export function vocabulary() {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte)));
  const space = bytes[0x20];
  const words = WORDS.map((word) => space + word);
  // A word is put together letter by letter from its left end, so all its beginnings are tokens, too.
  const beginnings = [2, 3].flatMap((length) => [...new Set(words.map((word) => word.slice(0, length)))]);
  const { end, ...turns } = MARKS;
  const tokens = [...bytes, ...beginnings, ...Object.values(turns), ...words, end];
  return {
    tokens,
    kinds: tokens.map((token) => (Object.values(MARKS).includes(token) ? CONTROL : NORMAL)),
    merges: [...beginnings, ...words].map((piece) => `${piece.slice(0, -1)} ${piece.at(-1)}`),
    spoken: words.length + 1,
  };
}

/** The character that stands for a byte: itself where it can be seen, else the next one above Latin-1 that is not taken. */
function printable(byte) {
  if ((byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad)) return byte;
  if (byte <= 0x20) return 0x100 + byte;
  return byte === 0xad ? 0x143 : 0x121 + byte - 0x7f;
}
