/** Whether a text matches a pattern in which `*` stands for anything, `/` too, and `?` for one character. */
export function matchesWildcard(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  /** Where to go back to: the latest star, and how far it reaches. */
  let star = -1;
  let reached = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      reached = t;
    } else if (pattern[p] === '?' || pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++reached;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
