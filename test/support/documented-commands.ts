import type { FencedBlock } from './markdown-page.js';

/** A command as a page shows it, with its documented output. */
export interface DocumentedCommand {
  words: readonly string[];
  exitCode: number;
  /** The block below the command that shows what it prints: on stderr when it fails, else on stdout. */
  shown: FencedBlock | undefined;
  line: number;
}

/**
 * The commands of all `bash` blocks, in order. A `text` or `json` block next to one shows what its last command prints.
 */
export function documentedCommands(blocks: readonly FencedBlock[]): DocumentedCommand[] {
  return blocks.flatMap((block, i) => {
    if (block.language !== 'bash') return [];
    const next = blocks[i + 1];
    const isBelow = next?.line === block.line + block.lines.length + 3;
    const shown = isBelow && ['text', 'json'].includes(next.language) ? next : undefined;
    const lines = commandLines(block.lines);
    return lines.map((text, n) => ({
      words: shellWords(text),
      exitCode: Number(block.settings.get('exit') ?? 0),
      shown: n === lines.length - 1 ? shown : undefined,
      line: block.line,
    }));
  });
}

/**
 * What a page shows of an output: all of it, or the lines selected by `lines=1-4,8-` with dots for the others. In a
 * `json` block the value counts, however it is laid out.
 */
export function excerpt(output: string, block: FencedBlock): readonly string[] {
  if (block.language === 'json') {
    const same = JSON.stringify(JSON.parse(block.lines.join('\n') || 'null')) === JSON.stringify(JSON.parse(output));
    return same ? block.lines : JSON.stringify(JSON.parse(output), null, 2).split('\n');
  }
  const lines = output.replace(/\n$/, '').split('\n');
  const ranges = block.settings.get('lines');
  if (ranges === undefined) return lines;
  const shown: string[] = [];
  let next = 1;
  for (const range of ranges.split(',')) {
    const [from = '', to = from] = range.split('-');
    const end = to === '' ? lines.length : Number(to);
    if (Number(from) > next) shown.push('...');
    shown.push(...lines.slice(Number(from) - 1, end));
    next = end + 1;
  }
  if (next <= lines.length) shown.push('...');
  return shown;
}

function commandLines(lines: readonly string[]): string[] {
  const joined = lines.join('\n').replace(/\\\n\s*/g, '');
  return joined.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** Splits at spaces outside quotes. */
function shellWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}
