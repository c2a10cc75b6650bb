import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

type Done = Parameters<SpanExporter['export']>[1];

/** Passes spans on and counts what became of them. */
export class CountedExporter implements SpanExporter {
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
