import type { ComparisonDocument } from '../experiment/comparison.js';

/** The comparison as printed: two spaces of indent, a newline at the end. */
export function comparisonJson(document: ComparisonDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
