/** Edit distance between two short names (insert, delete, replace, swap of neighbours). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      next.push(best);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** The known name nearest to a given one, or undefined when none is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  let best: string | undefined;
  let bestDistance = (wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))) + 1;
  for (const name of known) {
    // At least as many edits as characters differ in number: a name of any length costs nothing.
    if (Math.abs(wanted.length - name.length) >= bestDistance) continue;
    const d = distance(wanted, name.toLowerCase());
    if (d < bestDistance) {
      best = name;
      bestDistance = d;
    }
  }
  return best;
}

/** "did you mean x? known: a, b, c": the hint line for an unknown name. */
export function knownNames(given: string, known: readonly string[]): string {
  const near = nearestName(given, known);
  return `${near === undefined ? '' : `did you mean '${near}'? `}known: ${known.join(', ')}`;
}
