/** Text between or inside tags. Control characters are replaced. */
export function escaped(text: string): string {
  return text
    .replace(/\p{Cc}/gu, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** An element with its attributes and content; undefined attributes are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  inside = '',
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? coordinate(value) : escaped(value!)}"`)
    .join('');
  return inside === '' ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

export function label(className: string, x: number, y: number, text: string): string {
  return element('text', { class: className, x, y }, escaped(text));
}

/** A tenth of a pixel is exact enough. */
export function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** `M0 5L10 4.5L20 3`. */
export function path(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${coordinate(x)} ${coordinate(y)}`).join('');
}
