/** `block_size=64, tie_break=first`: numbers and true or false as such, all else as text, as commands read them. */
export function optionsOf(text: string): Record<string, unknown> {
  const pairs = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const at = item.indexOf('=');
      return at < 0 ? [item, ''] : [item.slice(0, at).trim(), plain(item.slice(at + 1).trim())];
    });
  return Object.fromEntries(pairs);
}

function plain(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
