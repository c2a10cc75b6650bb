/**
 * Flags of `text-embeddings-router` by version: names only, without the leading '--'. Source: the fields of `Args` in
 * `router/src/main.rs` of its repository, of a revision that has `--served-model-name`.
 */
export const flags: Readonly<Record<string, string>> = {
  'v1.9': `
    api-key auto-truncate cors-allow-origin default-prompt default-prompt-name dense-path disable-spans dtype
    hf-api-token hf-token hostname huggingface-hub-cache json-output max-batch-requests max-batch-tokens
    max-client-batch-size max-concurrent-requests model-id otlp-endpoint otlp-service-name payload-limit pooling
    port prometheus-port revision served-model-name tokenization-workers uds-path
  `,
};
