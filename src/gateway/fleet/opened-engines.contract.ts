import { afterEach } from 'vitest';
import { ToyEngine } from '../toy-engine.contract.js';

/** What a test has opened, closed after it: the last first. */
export const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** An engine that serves these models, for the time of a test. */
export async function engineOf(...models: string[]): Promise<ToyEngine> {
  const engine = await ToyEngine.start();
  engine.models = models;
  opened.push(() => engine.kill());
  return engine;
}
