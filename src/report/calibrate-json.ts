import type { CalibrationDocument } from '../observe/calibrate/calibration.js';

/** The comparison as printed: two spaces of indent, a newline at the end. */
export function calibrationJson(document: CalibrationDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
