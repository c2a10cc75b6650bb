const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word of a command as a shell takes it: quoted where it has other characters than those of names, paths and numbers. */
export function shellWord(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
