/** The errors of a direction: a malformed request and a malformed response are refused in different ways. */
export interface MessageErrors {
  /** @param problem a predicate of the message, as in `has an invalid content-length` */
  malformed(problem: string): Error;
  tooLarge(what: 'headers' | 'trailers' | 'chunk extensions', limit: number): Error;
}
