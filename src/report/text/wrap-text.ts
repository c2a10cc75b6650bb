/**
 * Splits text into lines of at most `width` characters. A word that is longer is split after a comma, or stands on a line of
 * its own; lines of the text itself stay lines.
 */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ').flatMap((one) => parts(one, width))) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}

function parts(word: string, width: number): string[] {
  if (word.length <= width) return [word];
  const at = word.lastIndexOf(',', width - 1) + 1;
  return at === 0 ? [word] : [word.slice(0, at), ...parts(word.slice(at), width)];
}
