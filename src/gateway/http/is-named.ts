/** Whether a header has this name, which is in lower case. Without a copy where the first letters differ, or nothing does. */
export function isNamed(name: string, lower: string): boolean {
  if (name === lower) return true;
  return (name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) && name.toLowerCase() === lower;
}
