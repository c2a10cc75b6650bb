/**
 * Splits text into lines of at most `width` characters, or `further` for lines after the first. A word that is longer is split
 * after a comma, or gets its own line; a number stays with its percent sign; lines of the text itself stay lines.
 */
export function wrapText(text: string, width: number, further = width): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const indent = /^ */.exec(paragraph)![0];
    const lines: string[] = [];
    let line = indent;
    for (const word of paragraph
      .slice(indent.length)
      .split(/ (?!%)/)
      .flatMap((one) => parts(one, further))) {
      const limit = lines.length === 0 ? width : further;
      if (line.trim() !== '' && line.length + 1 + word.length > limit) {
        lines.push(line);
        line = word;
      } else line = line.trim() === '' ? line + word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}

function parts(word: string, width: number): string[] {
  if (word.length <= width) return [word];
  const at = word.lastIndexOf(',', width - 1) + 1;
  return at === 0 ? [word] : [word.slice(0, at), ...parts(word.slice(at), width)];
}
