import { afterAll, expect, it } from 'vitest';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { FakeEngine, sendJson, startGateway } from '../fake-engine.fixture.js';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

it('refuses a sheddable request whose target no replica can meet, with 429 and when to try again', async () => {
  const engine = await FakeEngine.start();
  closing.push(() => engine.kill());
  engine.answer = ({ response }) => sendJson(response, 200, {});
  const gateway = await startGateway([engine]);
  closing.push(() => gateway.close(0));
  const endpoint = gateway.endpoints.get('default')!;
  endpoint.setPolicy({ ...DEFAULT_POLICY, name: 'predicted-latency', options: { shed: true } });
  const send = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    return { status: response.status, after: response.headers.get('retry-after'), text: await response.text() };
  };
  const tight = { 'x-slo-class': 'batch', 'x-slo-ttft-ms': '0.5' };
  // Without a profile nothing is predicted, and nothing is refused.
  expect(await send(tight)).toMatchObject({ status: 200 });
  endpoint.profiles.set('r0', fakeProfile());
  const refused = await send(tight);
  expect(refused).toMatchObject({ status: 429, after: '1' });
  expect(refused.text).toContain('no replica can meet its latency target');
  expect(await send({ 'x-slo-class': 'batch', 'x-slo-ttft-ms': '5000' })).toMatchObject({ status: 200 });
  expect(await send({ 'x-slo-class': 'batch', 'x-slo-ttft-ms': 'soon' })).toMatchObject({ status: 200 });
  expect(await send({ 'x-slo-ttft-ms': '0.5' })).toMatchObject({ status: 200 });
  for (const header of ['x-slo-tpot-ms', 'x-llm-d-slo-ttft-ms', 'x-llm-d-slo-tpot-ms']) {
    expect(await send({ 'x-slo-class': 'batch', [header]: '0.5' }), header).toMatchObject({ status: 429 });
  }
  // A malformed header counts as absent, also beside the other name.
  const both = { 'x-slo-class': 'batch', 'x-slo-ttft-ms': '-1', 'x-llm-d-slo-ttft-ms': '0.5' };
  expect(await send(both)).toMatchObject({ status: 429 });
  for (const value of ['-5', '0', '1e9', 'NaN', 'Infinity', '99999999999', '0x10', '1,5', '5ms']) {
    expect(await send({ 'x-slo-class': 'batch', 'x-slo-ttft-ms': value }), value).toMatchObject({ status: 200 });
  }
  expect(endpoint.inFlight).toBe(0);
});
