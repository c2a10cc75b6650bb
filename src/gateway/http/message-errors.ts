/** How readers of messages tell what is wrong with one: what a replica answers and what a client asks are told apart by it. */
export interface MessageErrors {
  /** @param problem what it does wrong, as in `has a bad length` */
  malformed(problem: string): Error;
  tooLarge(what: 'headers' | 'trailers' | 'chunk extensions', limit: number): Error;
}
