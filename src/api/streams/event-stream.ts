import { Channel } from './channel.js';

/** How far a client has read the stream: the version of resources, and the id of events. */
export interface Position {
  version: number;
  event: number;
}

/** One server-sent event before it is written down. A source moves the position that it counts. */
export interface StreamItem {
  readonly event: 'resource' | 'event' | 'replica' | 'traffic' | 'gateway' | 'bookmark' | 'reset';
  readonly data: object;
  readonly position?: Partial<Position>;
}

/** `120-45`: the id of every event in the stream, which `Last-Event-ID` sends back. */
const ID = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** Null for an invalid position; a number alone is a resource version. */
export function readPosition(text: string): Partial<Position> | null {
  const match = ID.exec(text);
  if (match === null) return null;
  return { version: Number(match[1]), ...(match[2] === undefined ? {} : { event: Number(match[2]) }) };
}

/** Several sources as one stream of server-sent events. It ends with the first source that ends. */
export async function* eventStream(
  sources: readonly AsyncIterable<StreamItem>[],
  start: Position,
): AsyncGenerator<string> {
  const position = { ...start };
  const items = new Channel<StreamItem>();
  for (const source of sources) void pump(source, items);
  try {
    for await (const { data, event, position: moved } of items) {
      Object.assign(position, moved);
      yield `id: ${position.version}-${position.event}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    }
  } finally {
    items.end();
  }
}

async function pump(source: AsyncIterable<StreamItem>, items: Channel<StreamItem>): Promise<void> {
  try {
    for await (const item of source) {
      await items.put(item);
      if (items.isOver) return;
    }
    items.end();
  } catch (error) {
    items.fail(error);
  }
}
