/** Whether a text looks like a configuration of inference-perf with shared prefixes. */
export function isInferencePerf(text: string): boolean {
  return hasKey(text, 'load') && hasKey(text, 'shared_prefix') && !hasKey(text, 'inference_perf');
}

function hasKey(text: string, key: string): boolean {
  return new RegExp(`(?:^|[\\s{,])"?${key}"?\\s*:`).test(text);
}
