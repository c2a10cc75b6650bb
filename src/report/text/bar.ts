const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share from 0 to 1, padded to `width` cells. Anything above zero shows at least a sliver. */
export function bar(share: number, width: number): string {
  const eighths = share > 0 ? Math.max(1, Math.round(Math.min(1, share) * width * 8)) : 0;
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`.padEnd(width);
}
