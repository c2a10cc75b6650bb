import { afterEach, expect, it } from 'vitest';
import { configFor, FakeEngine } from '../fake-engine.fixture.js';
import { Gateway } from '../gateway.js';
import { parseExposition } from './exposition.fixture.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

it('exports a running gateway, whatever its replicas are called', async () => {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  engine.metrics = 'vllm:num_requests_running 1\n';
  const config = configFor([engine]);
  const [endpoint] = config.endpoints;
  const replicas = [
    { ...endpoint!.replicas[0]!, id: 'quote " slash \\ line\nend' },
    { id: 'dead', url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] },
  ];
  const gateway = new Gateway({ ...config, endpoints: [{ ...endpoint!, replicas }], decisionLog: '/dev/null' });
  opened.push(() => gateway.close(0));
  expect(parseExposition(gateway.metricsText()).get('twinyard_in_flight')).toBe(0);
  await gateway.start();
  for (let i = 0; i < 3; i++) {
    await fetch(`${gateway.url}/v1/completions`, { method: 'POST', body: '{"model":"m","prompt":"x"}' });
  }
  await fetch(`${gateway.url}/nothing`);
  const samples = parseExposition(gateway.metricsText());
  const id = '"quote \\" slash \\\\ line\\nend"';
  expect(samples.get('twinyard_requests_total{endpoint="default",model="m",outcome="ok",status="2xx"}')).toBe(3);
  expect(samples.get('twinyard_request_duration_seconds_count{endpoint="default"}')).toBe(3);
  expect(samples.get('twinyard_refused_total{status="404"}')).toBe(1);
  expect(samples.get('twinyard_endpoint_in_flight{endpoint="default"}')).toBe(0);
  expect(samples.get(`twinyard_replica_ready{replica=${id}}`)).toBe(1);
  expect(samples.get('twinyard_replica_ready{replica="dead"}')).toBe(0);
  expect(samples.get('twinyard_replica_breaker_open{replica="dead"}')).toBe(0);
  expect(samples.get(`twinyard_signals_missing_total{replica=${id},signal="waiting"}`)).toBe(1);
  expect(samples.get(`twinyard_replica_signals_age_seconds{replica=${id}}`)).toBeGreaterThan(0);
  expect(samples.has('twinyard_replica_signals_age_seconds{replica="dead"}')).toBe(false);
  expect([samples.get('twinyard_faults_total'), samples.get('twinyard_decision_log_broken')]).toEqual([0, 0]);
});
