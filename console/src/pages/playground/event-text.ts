/** Two line ends, each of any kind: a carriage return before a line feed is no line end of its own. */
const END = /(?:\r\n|\n|\r(?!\n)){2}/;

/** Cuts the text of server-sent events, which comes in pieces of any length, into events. */
export class EventText {
  #rest = '';

  /** The events that are whole with this piece. */
  add(piece: string): string[] {
    const text = this.#rest + piece;
    // A carriage return at the end may be the first half of a line end.
    const isHalf = text.endsWith('\r');
    const events = (isHalf ? text.slice(0, -1) : text).split(END);
    this.#rest = events.pop()! + (isHalf ? '\r' : '');
    return events;
  }

  /** What is left when the stream has ended. */
  end(): string[] {
    return this.#rest.split(END);
  }
}

/** The data of an event; undefined where it has none, as a comment. */
export function dataOf(event: string): string | undefined {
  const lines = event.split(/\r\n|\n|\r/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
  return lines.length === 0 ? undefined : lines.join('\n');
}
