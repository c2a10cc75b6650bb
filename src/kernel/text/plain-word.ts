/** A word of a command line as a value: numbers and true or false as such, all else as text. */
export function plainWord(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
