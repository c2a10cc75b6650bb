/** Turns that a client sends by its own clock come a pause earlier for each second that the response before them takes longer. */
const SCHEDULED_SLOPE = -0.5;
/** The slope has to be this many of its standard errors below that of a client that waits: none. */
const SURE = 2;
const LEAST_TURNS = 20;

/**
 * Whether later turns arrive by a schedule, however long the responses before them take: the slope of pauses over these tells. A client
 * that thinks after a response has the same pauses after long ones.
 */
export function followsSchedule(pausesUs: readonly number[], responsesUs: readonly number[]): boolean {
  const count = pausesUs.length;
  if (count < LEAST_TURNS) return false;
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / count;
  const [pause, response] = [meanOf(pausesUs), meanOf(responsesUs)];
  let [spread, together] = [0, 0];
  for (let i = 0; i < count; i++) {
    spread += (responsesUs[i]! - response) ** 2;
    together += (responsesUs[i]! - response) * (pausesUs[i]! - pause);
  }
  if (spread === 0) return false;
  const slope = together / spread;
  let left = 0;
  for (let i = 0; i < count; i++) left += (pausesUs[i]! - pause - slope * (responsesUs[i]! - response)) ** 2;
  const error = Math.sqrt(left / (count - 2) / spread);
  return slope < SCHEDULED_SLOPE && slope + SURE * error < 0;
}
