/**
 * Flags of `infinity_emb v2` by version. Names only, without the leading '--', written by scripts/engine-flags.py.
 * Source: the wheel infinity_emb 0.0.78 on PyPI (`infinity_emb/cli.py`).
 */
export const flags: Readonly<Record<string, string>> = {
  'v0.0.78': `
    api-key batch-size bettertransformer compile device device-id dtype embedding-dtype engine host
    lengths-via-tokenize log-level model-id model-warmup no-bettertransformer no-compile no-lengths-via-tokenize
    no-model-warmup no-onnx-disable-optimize no-onnx-do-not-prefer-quantized no-permissive-cors no-preload-only
    no-trust-remote-code no-vector-disk-cache onnx-disable-optimize onnx-do-not-prefer-quantized permissive-cors
    pooling-method port preload-only proxy-root-path redirect-slash revision served-model-name trust-remote-code
    url-prefix vector-disk-cache
  `,
};
