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

/** A policy with what it sets, as commands and addresses have it in one word: `chwbl:load_factor=1.5+key=messages`. */
export interface NamedPolicy {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Scorers have a notation of their own: `weighted:queue-depth:1+kv-utilization:2`. A plus that was typed into an address is a space. */
export function readPolicy(word: string): NamedPolicy {
  const [name, ...rest] = word.split(':');
  const parts = rest.length === 0 ? [] : rest.join(':').split(/[+ ]/);
  const scorers = parts.filter((part) => !part.includes('='));
  const pairs = parts.filter((part) => part.includes('=')).map((part) => part.split(/=(.*)/s) as [string, string]);
  return {
    name: name!,
    options: {
      ...(scorers.length === 0 ? {} : { scorers: scorers.join(',') }),
      ...Object.fromEntries(pairs.map(([option, value]) => [option, plain(value)])),
    },
  };
}

export function policyWord({ name, options }: NamedPolicy): string {
  const parts = Object.entries(options).flatMap(([option, value]) =>
    option === 'scorers' ? String(value).split(',') : [`${option}=${value}`],
  );
  return parts.length === 0 ? name : `${name}:${parts.join('+')}`;
}
