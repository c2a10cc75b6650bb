import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface OtlpValue {
  stringValue?: string;
  intValue?: number | string;
  boolValue?: boolean;
}
interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  events: { name: string; timeUnixNano: string }[];
  status: { code: number; message?: string };
}
interface OtlpBody {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

type Plain = Record<string, string | number | boolean>;

/** A span as a collector received it, with times in microseconds. */
export interface CollectedSpan
  extends Omit<OtlpSpan, 'attributes' | 'events' | 'startTimeUnixNano' | 'endTimeUnixNano'> {
  attributes: Plain;
  events: { name: string; atUs: number }[];
  startUs: number;
  endUs: number;
  resource: Plain;
}

/** A collector on loopback that accepts OTLP as JSON over HTTP and keeps the spans. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  status = 200;
  /** It accepts requests and never responds. */
  hangs = false;
  url = '';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        this.requests.push({ path: request.url!, headers: request.headers, body });
        if (this.status === 200) this.spans.push(...spansOf(JSON.parse(body)));
        if (!this.hangs) response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    collector.url = `http://127.0.0.1:${(collector.#server.address() as AddressInfo).port}`;
    return collector;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

function spansOf({ resourceSpans }: OtlpBody): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, events, ...span }) => ({
        ...span,
        attributes: plain(attributes),
        events: events.map(({ name, timeUnixNano }) => ({ name, atUs: micros(timeUnixNano) })),
        startUs: micros(startTimeUnixNano),
        endUs: micros(endTimeUnixNano),
        resource: plain(resource.attributes),
      })),
    ),
  );
}

function plain(attributes: readonly OtlpAttribute[]): Plain {
  return Object.fromEntries(
    attributes.map(({ key, value: { boolValue, intValue, stringValue } }) => [
      key,
      stringValue ?? boolValue ?? Number(intValue),
    ]),
  );
}

function micros(nanos: string): number {
  return Number(BigInt(nanos) / 1000n);
}
