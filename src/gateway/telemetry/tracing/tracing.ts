import type { NodeTracerProvider, ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { packageVersion } from '../../../files/package-path.js';
import type { FinishedRequest } from '../../request/request-record.js';
import type { SpanCounts } from '../metric-sources.js';
import { loadSdk } from './load-sdk.js';
import { RandomIds } from './random-ids.js';
import { GivenIds, RequestSpans, spanCount } from './request-spans.js';
import { readTraceParent, readTraceState, SAMPLED, type TraceContext, traceParentText } from './trace-context.js';
import { tracesUrl } from './traces-url.js';

/** Spans that may wait for the collector; further ones are dropped. */
const MOST_WAITING = 4096;
/** Small enough that encoding one delays no request. */
const BATCH = 256;
const BATCH_MS = 1000;
/** For a batch, with all tries. */
const EXPORT_MS = 3000;
/** For the last batches when the gateway ends. */
const CLOSE_MS = 2000;

type Header = string | readonly string[] | undefined;

export interface TracingOptions {
  /** A collector's address, with or without the path. */
  endpoint: string;
  /** The share of the traces begun here that are exported. */
  sample: number;
  /** The beginning of the gateway's clock, since 1970. */
  epochUs: number;
}

/**
 * Exports requests to a collector as spans over OTLP. While a request runs only its place in the trace is kept, and
 * only if it is sampled; spans are created when it has ended and sent in batches. An unavailable collector costs spans,
 * nothing else.
 */
export class Tracing implements SpanCounts {
  readonly #provider: NodeTracerProvider;
  readonly #exporter: CountedExporter;
  readonly #spans: RequestSpans;
  readonly #random: RandomIds;
  readonly #sample: number;
  #made = 0;
  #dropped = 0;
  #isClosed = false;

  private constructor(parts: {
    provider: NodeTracerProvider;
    exporter: CountedExporter;
    spans: RequestSpans;
    random: RandomIds;
    sample: number;
  }) {
    this.#provider = parts.provider;
    this.#exporter = parts.exporter;
    this.#spans = parts.spans;
    this.#random = parts.random;
    this.#sample = parts.sample;
  }

  /** Loads the SDK and connects it to the collector. Headers, certificates and resource names come from `OTEL_*`. */
  static async open({ endpoint, epochUs, sample }: TracingOptions): Promise<Tracing> {
    const { api, exporter: otlp, resources, sdk } = await loadSdk();
    const { AlwaysOnSampler, BatchSpanProcessor, NodeTracerProvider } = sdk;
    const exporter = new CountedExporter(
      new otlp.OTLPTraceExporter({ url: tracesUrl(endpoint), timeoutMillis: EXPORT_MS }),
    );
    const processor = new BatchSpanProcessor(exporter, {
      maxQueueSize: MOST_WAITING,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: BATCH_MS,
    });
    const version = packageVersion();
    const ours = resources.resourceFromAttributes({ 'service.name': 'twinyard', 'service.version': version });
    const named = resources.detectResources({ detectors: [resources.envDetector] });
    const given = new GivenIds();
    const random = new RandomIds();
    const provider = new NodeTracerProvider({
      resource: resources.defaultResource().merge(ours).merge(named),
      // Requests that are not sampled do not reach this.
      sampler: new AlwaysOnSampler(),
      idGenerator: given,
      spanProcessors: [processor],
    });
    const spans = new RequestSpans({ api, tracer: provider.getTracer('twinyard', version), given, random, epochUs });
    return new Tracing({ provider, exporter, spans, random, sample });
  }

  /**
   * A request begins: its place in its trace, or null when it is not sampled. A caller's trace is continued if the
   * caller samples it; an invalid `traceparent` counts as not sent.
   */
  begin(traceParent: Header, traceState: Header): TraceContext | null {
    const parent = typeof traceParent === 'string' ? readTraceParent(traceParent) : null;
    const isSampled = parent === null ? this.#random.fraction() < this.#sample : (parent.flags & SAMPLED) === SAMPLED;
    if (!isSampled) return null;
    const traceId = parent?.traceId ?? this.#random.traceId();
    const spanId = this.#random.spanId();
    return {
      traceId,
      spanId,
      parentSpanId: parent?.spanId ?? '',
      traceState: parent !== null && typeof traceState === 'string' ? readTraceState(traceState) : '',
      traceParentForUpstream: traceParentText(traceId, spanId, parent?.flags ?? SAMPLED),
    };
  }

  ended(request: FinishedRequest, trace: TraceContext): void {
    const count = spanCount(request);
    if (this.#isClosed || this.waiting + count > MOST_WAITING) {
      this.#dropped += count;
      return;
    }
    this.#made += count;
    this.#spans.write(request, trace);
  }

  /** Spans that are created and neither accepted nor refused yet. */
  get waiting(): number {
    return this.#made - this.exported - this.failed;
  }

  get exported(): number {
    return this.#exporter.exported;
  }

  get failed(): number {
    return this.#exporter.failed;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Sends waiting spans, as far as time allows. */
  async close(limitMs = CLOSE_MS): Promise<void> {
    this.#isClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }
}

type Done = Parameters<SpanExporter['export']>[1];

/** Passes spans on and counts the results. */
class CountedExporter implements SpanExporter {
  exported = 0;
  failed = 0;
  readonly #inner: SpanExporter;

  constructor(inner: SpanExporter) {
    this.#inner = inner;
  }

  export(spans: ReadableSpan[], done: Done): void {
    this.#inner.export(spans, (result) => {
      if (result.code === 0) this.exported += spans.length;
      else this.failed += spans.length;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}
