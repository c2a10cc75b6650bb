/** First tokens and delays that live figures are made of. */
const RECENT = 512;

/** What can be told of a run while it goes on. */
export class LiveFigures {
  /** How many were sent, how many are over, and how many of these have no complete response. */
  sent = 0;
  ended = 0;
  failed = 0;
  /** Pieces of answers: a token each, as a rule. */
  chunks = 0;
  readonly recentTtftUs: number[] = [];
  readonly recentLatenessUs: number[] = [];

  late(us: number): void {
    keep(this.recentLatenessUs, us);
  }

  firstToken(us: number): void {
    keep(this.recentTtftUs, us);
  }
}

function keep(values: number[], value: number): void {
  values.push(value);
  if (values.length >= 2 * RECENT) values.splice(0, RECENT);
}
