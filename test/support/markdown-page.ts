/** A fenced block of a page: ```` ```bash exit=2 ```` has the language `bash` and the setting `exit`. */
export interface FencedBlock {
  language: string;
  settings: ReadonlyMap<string, string>;
  lines: readonly string[];
  /** Number of the opening line, from 1, as editors count. */
  line: number;
}

/** A page as its readers and its tests see it. */
export interface MarkdownPage {
  blocks: readonly FencedBlock[];
  /** The text outside fenced blocks. */
  prose: string;
  /** Anchors of the headings, as GitHub makes them. */
  anchors: ReadonlySet<string>;
  /** Targets of links and pictures. */
  links: readonly string[];
}

const LINK = /\]\(([^()\s]+)\)|(?:src|srcset|href)="([^"]+)"/g;

export function parseMarkdown(text: string): MarkdownPage {
  const blocks: FencedBlock[] = [];
  const prose: string[] = [];
  let open: { info: string; line: number; lines: string[] } | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    if (open === undefined && line.startsWith('```')) open = { info: line.slice(3), line: i + 1, lines: [] };
    else if (open !== undefined && line === '```') {
      blocks.push(fencedBlock(open.info, open.line, open.lines));
      open = undefined;
    } else (open?.lines ?? prose).push(line);
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the fenced block never ends`);
  const plain = prose.join('\n');
  const headings = [...plain.matchAll(/^#+ (.*)$/gm)].map((match) => match[1]!);
  return {
    blocks,
    prose: plain,
    anchors: new Set(headings.map(anchorOf)),
    links: [...plain.matchAll(LINK)].map((match) => match[1] ?? match[2]!),
  };
}

function fencedBlock(info: string, line: number, lines: readonly string[]): FencedBlock {
  const [language = '', ...settings] = info.trim().split(/\s+/);
  return { language, settings: new Map(settings.map((one) => one.split('=') as [string, string])), lines, line };
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
