/** A manifest that inserts the address of its pod into a URL cannot put one of IPv6 into brackets. */
export function withBrackets(url: string): string {
  return url.replace(/^(https?:\/\/)([0-9a-f]*:[0-9a-f:]+)(:\d+)$/i, '$1[$2]$3');
}
