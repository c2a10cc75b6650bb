import { afterEach, describe, expect, it } from 'vitest';
import { Gateway } from '../gateway.js';
import { configFor, ToyEngine } from '../toy-engine.contract.js';
import { metricsText } from './metrics-text.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/;

/** Reads an exposition as strictly as Prometheus does: samples below their type, none twice. */
function parsed(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  let current = '';
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment !== null) {
      if (comment[1] === 'TYPE') expect(['counter', 'gauge']).toContain(comment[3]);
      current = comment[2]!;
      continue;
    }
    const [, name, labels = '', , value] = SAMPLE.exec(line) ?? [];
    expect(name, line).toBe(current);
    if (name!.endsWith('_total')) expect(Number(value), line).toBeGreaterThanOrEqual(0);
    expect(samples.has(name + labels), line).toBe(false);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

describe('metricsText', () => {
  it('can be read, whatever has happened and whatever replicas are called', async () => {
    const engine = await ToyEngine.start();
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
    expect(parsed(metricsText(gateway)).get('twinyard_in_flight')).toBe(0);
    await gateway.start();
    for (let i = 0; i < 3; i++) {
      await fetch(`${gateway.url}/v1/completions`, { method: 'POST', body: '{"model":"m","prompt":"x"}' });
    }
    await fetch(`${gateway.url}/nothing`);
    const samples = parsed(metricsText(gateway));
    const id = '"quote \\" slash \\\\ line\\nend"';
    expect(samples.get('twinyard_requests_total{outcome="ok"}')).toBe(3);
    expect(samples.get('twinyard_refused_total{status="404"}')).toBe(1);
    expect(samples.get(`twinyard_replica_ready{replica=${id}}`)).toBe(1);
    expect(samples.get('twinyard_replica_ready{replica="dead"}')).toBe(0);
    expect(samples.get('twinyard_replica_breaker_open{replica="dead"}')).toBe(0);
    expect(samples.get(`twinyard_signals_missing_total{replica=${id},signal="waiting"}`)).toBe(1);
    expect(samples.get(`twinyard_replica_signals_age_seconds{replica=${id}}`)).toBeGreaterThan(0);
    expect(samples.has('twinyard_replica_signals_age_seconds{replica="dead"}')).toBe(false);
    expect([samples.get('twinyard_faults_total'), samples.get('twinyard_decision_log_broken')]).toEqual([0, 0]);
  });
});
