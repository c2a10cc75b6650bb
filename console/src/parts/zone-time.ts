export type Zone = 'UTC' | 'local';

/** What a clock of the zone shows at a time, as in `2030-01-31T12:00:00.000`. */
export function clockOf(at: Date, zone: Zone): string {
  const shown = zone === 'UTC' ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shown.toISOString().slice(0, -1);
}

/** The time at which a clock of the zone shows this; null for what is not a time. */
export function timeOf(clock: string, zone: Zone): string | null {
  const at = new Date(zone === 'UTC' ? `${clock}Z` : clock);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
