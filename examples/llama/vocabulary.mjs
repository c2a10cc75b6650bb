// A vocabulary for a model with random weights: every byte, a hundred common words with a leading space, and the marks of a
// chat template. Byte-level byte-pair encoding as in GPT-2.

/** The words that `twinyard observe` uses in prompts: a word is a token. */
const WORDS = [
  'the and for are but not you all any can had her was one our out day get has him his how man new now',
  'old see two way who boy did its let put say she too use big box car cat cup dog ear eye far few fly',
  'fun got hot ice job key law leg lot low map may men mix net oil own pay pen per red run sea set sir',
  'sit six sky son sun tax tea ten top try war wet win yes yet air arm art bad bag bar bed bit ago aid',
]
  .join(' ')
  .split(' ');

/** The end of a response, and the start of a turn. */
export const MARKS = { end: '<|end|>', system: '<|system|>', user: '<|user|>', assistant: '<|assistant|>' };

/** Kinds of tokens: their numbers in the format. */
const NORMAL = 1;
const CONTROL = 3;

/**
 * Tokens in the order of their ids with their kinds; merges in the order of their rank; how many of the last tokens a random
 * model may output: words and the end.
 */
export function vocabulary() {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte)));
  const space = bytes[0x20];
  const words = WORDS.map((word) => space + word);
  // A word is merged letter by letter from the left, so all its prefixes are tokens, too.
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

/** The character for a byte: itself if it is visible, else the next unused one above Latin-1. */
function printable(byte) {
  if ((byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad)) return byte;
  if (byte <= 0x20) return 0x100 + byte;
  return byte === 0xad ? 0x143 : 0x121 + byte - 0x7f;
}
