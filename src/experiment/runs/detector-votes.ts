import type { DetectorVerdict, LoadLevel } from '../../simulator/result-document.js';

/** With how many runs a detector said what. */
export type LevelCounts = Record<LoadLevel, number>;

/** By detector; absent unless detectors were chosen. */
export type DetectorVotes = Record<string, LevelCounts>;

/** @param runs what the detectors said of each run */
export function detectorVotes(
  runs: readonly (Readonly<Record<string, Pick<DetectorVerdict, 'level'>>> | undefined)[],
): { detectors?: DetectorVotes } {
  const detectors: DetectorVotes = {};
  for (const run of runs) {
    for (const [name, { level }] of Object.entries(run ?? {})) {
      detectors[name] ??= { stable: 0, backlogged: 0, overloaded: 0 };
      detectors[name][level]++;
    }
  }
  return Object.keys(detectors).length === 0 ? {} : { detectors };
}

const MOST_NAMES = 3;

/** A sentence for each detector: what it calls overloaded or backlogged, and with how many runs. */
export function detectorNotes(parts: readonly { name: string; detectors?: DetectorVotes }[]): string[] {
  const names = [...new Set(parts.flatMap(({ detectors = {} }) => Object.keys(detectors)))];
  return names.map((name) => {
    const said = (['overloaded', 'backlogged'] as const).flatMap((level) => {
      const where = parts.flatMap((part) => {
        const counts = part.detectors?.[name];
        const runs = counts === undefined ? 0 : counts.stable + counts.backlogged + counts.overloaded;
        return counts === undefined || counts[level] === 0 ? [] : `${part.name} (${counts[level]} of ${runs} runs)`;
      });
      if (where.length === 0) return [];
      const more = where.length > MOST_NAMES ? ` and ${where.length - MOST_NAMES} more` : '';
      return `${level}: ${where.slice(0, MOST_NAMES).join(', ')}${more}`;
    });
    return `Detector ${name}: ${said.length === 0 ? 'stable in every run' : said.join('; ')}.`;
  });
}
