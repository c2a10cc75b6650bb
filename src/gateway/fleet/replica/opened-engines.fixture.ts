import { afterEach } from 'vitest';
import { FakeEngine } from '../../fake-engine.fixture.js';

/** What a test has opened, closed after it: the last first. */
export const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** An engine that serves these models, for the time of a test. */
export async function engineOf(...models: string[]): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  engine.models = models;
  opened.push(() => engine.kill());
  return engine;
}
