/** 1234567 as `1,234,567`. */
export function wholeNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Two decimal digits, with a thousands separator: `12,345.68`. */
export function decimal(value: number, digits = 2): string {
  const [integer, rest] = value.toFixed(digits).split('.');
  const grouped = integer!.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

/** A share from 0 to 1 as `12.3 %`. */
export function percent(share: number): string {
  return `${decimal(share * 100, 1)} %`;
}

/** `1 request`, `2 requests`. */
export function counted(value: number, noun: string): string {
  return `${wholeNumber(value)} ${noun}${value === 1 ? '' : 's'}`;
}
