import { describe, expect, it } from 'vitest';
import { tracesUrl, tracingFromEnvironment } from './traces-url.js';

it('adds the path unless it is there', () => {
  const urls = ['http://h:4318', 'http://h:4318/', 'http://h:4318/v1/traces', 'https://h/otlp/', 'https://h/otlp?k=v'];
  expect(urls.map(tracesUrl)).toEqual([
    'http://h:4318/v1/traces',
    'http://h:4318/v1/traces',
    'http://h:4318/v1/traces',
    'https://h/otlp/v1/traces',
    'https://h/otlp/v1/traces?k=v',
  ]);
});

describe('tracingFromEnvironment', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318';

  it('reads what OpenTelemetry reads', () => {
    expect(tracingFromEnvironment({})).toBeNull();
    expect(tracingFromEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeNull();
    expect(tracingFromEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeNull();
    expect(tracingFromEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual({
      endpoint: OTEL_EXPORTER_OTLP_ENDPOINT,
      sample: 1,
    });
    const { sample } = tracingFromEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0.25' })!;
    expect(sample).toBe(0.25);
  });

  it('says what is wrong', () => {
    const read = (env: NodeJS.ProcessEnv) => () => tracingFromEnvironment(env);
    for (const endpoint of ['collector:4318', 'http://', 'grpc://h']) {
      expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow(
        `OTEL_EXPORTER_OTLP_ENDPOINT: '${endpoint}' is not a URL`,
      );
    }
    for (const OTEL_TRACES_SAMPLER_ARG of ['all', '2', '-1', 'NaN']) {
      expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG })).toThrow('give 0 to 1');
    }
  });
});
