import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { BenchTable } from '../bench-table.js';
import type { ControlServer } from '../control/control-server.js';

const MOST_INTERACTIVE_MS = 1000;
const LEAST_FRAMES = 55;
const ROWS = 10_000;
const SCROLL_MS = 10_000;
const MOST_CORE = 0.02;
/** What two measurements of the same may differ by. */
const NOISE = 0.005;
const WATCH_MS = 10_000;
/** Requests per second of the light load. */
const RATE = 20;
const LOADS = 5;

/** A context with a session. */
export async function loggedIn(browser: Browser, { admin, token }: ControlServer): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(admin);
  await page.getByLabel('Admin token, or API key with a role').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.close();
  return context;
}

/** Runs before the page: remembers when the heading of a page was in view and the next frame was drawn. */
const WATCH_FOR_HEADING = `new MutationObserver((_, observer) => {
  if (document.querySelector('main h1') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.interactiveMs = performance.now(); }, 0));
}).observe(document, { childList: true, subtree: true });`;

/** The overview with nothing in the cache of the browser, until it takes clicks. */
export async function interactiveRow(table: BenchTable, browser: Browser, server: ControlServer): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < LOADS; i++) {
    const context = await loggedIn(browser, server);
    const [cookie] = await context.cookies();
    const fresh = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await fresh.addCookies([cookie!]);
    const page = await fresh.newPage();
    await page.addInitScript(WATCH_FOR_HEADING);
    await page.goto(server.admin);
    // The policy of the page allows no function that is made from text, as `waitForFunction` needs.
    const interactive = () => page.evaluate('window.interactiveMs ?? 0') as Promise<number>;
    while ((await interactive()) === 0) await sleep(10);
    times.push(await interactive());
    await fresh.close();
    await context.close();
  }
  const ms = times.sort((a, b) => a - b)[Math.floor(LOADS / 2)]!;
  const measured = `${ms.toFixed(0)} ms (median of ${LOADS})`;
  table.report(
    'first page interactive, empty cache',
    measured,
    `<= ${MOST_INTERACTIVE_MS} ms`,
    ms <= MOST_INTERACTIVE_MS,
  );
}

/** Scrolls through rows at a steady speed and counts the frames that were drawn. */
const SCROLL = `new Promise((resolve) => {
  const place = document.querySelector('.table-tall');
  const length = place.scrollHeight - place.clientHeight;
  let [frames, longest, beganAt, lastAt] = [0, 0, 0, 0];
  const step = (now) => {
    if (beganAt === 0) beganAt = now;
    else { frames++; longest = Math.max(longest, now - lastAt); }
    lastAt = now;
    place.scrollTop = (length * (now - beganAt)) / ${SCROLL_MS};
    if (now - beganAt < ${SCROLL_MS}) requestAnimationFrame(step);
    else resolve({ perSecond: (1000 * frames) / (now - beganAt), longest });
  };
  requestAnimationFrame(step);
})`;

export async function scrollRow(table: BenchTable, context: BrowserContext, server: ControlServer): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${server.admin}/requests`);
  await page.locator('.table-tall').waitFor();
  // All rows are read first: what is measured is the page, not the store.
  const height = () => page.evaluate("document.querySelector('.table-tall').scrollHeight") as Promise<number>;
  while ((await height()) < ROWS * 32) {
    await page.evaluate(
      "{ const place = document.querySelector('.table-tall'); place.scrollTop = place.scrollHeight; }",
    );
    await sleep(50);
  }
  const { longest, perSecond } = (await page.evaluate(SCROLL)) as { perSecond: number; longest: number };
  const measured = `${perSecond.toFixed(1)} frames/s, longest ${longest.toFixed(0)} ms`;
  table.report(
    `${ROWS} requests scrolled in ${SCROLL_MS / 1000} s`,
    measured,
    `>= ${LEAST_FRAMES}`,
    perSecond >= LEAST_FRAMES,
  );
  await page.close();
}

/** The processor time of the gateway beside a light load: not watched, watched on several pages, and not watched again. */
export async function watchedRows(
  table: BenchTable,
  browser: Browser,
  server: ControlServer,
  load: () => Promise<void>,
) {
  const shareOf = async () => {
    const [before, beganAt] = [ownMs(server.pid), performance.now()];
    // By the clock, however busy the browser is: the gateway has the same work each time.
    const sent: Promise<void>[] = [];
    for (let elapsedMs = 0; elapsedMs < WATCH_MS; elapsedMs = performance.now() - beganAt) {
      while (sent.length < (elapsedMs * RATE) / 1000) sent.push(load());
      await sleep(1000 / RATE);
    }
    await Promise.all(sent);
    return (ownMs(server.pid) - before) / (performance.now() - beganAt);
  };
  const percent = (share: number) => `${(100 * share).toFixed(2)} % of a core`;
  await shareOf();
  const before = await shareOf();
  const watched: [string, number][] = [];
  for (const [name, path, ready] of PAGES) {
    const context = await loggedIn(browser, server);
    const page = await context.newPage();
    await opened(page, `${server.admin}${path}`, ready);
    watched.push([name, await shareOf()]);
    await context.close();
  }
  const after = await shareOf();
  // Code gets faster for a while after the start: the lesser of both, or being watched would look cheaper than it is.
  const alone = Math.min(before, after);
  table.report('gateway with a light load, before and after', `${percent(before)}, ${percent(after)}`, '', null);
  for (const [name, share] of watched) {
    const cost = share - alone;
    table.report(`watched on the page ${name}, more`, percent(cost), `<= ${100 * MOST_CORE} %`, cost <= MOST_CORE);
  }
  const left = after - before;
  table.report('after it was watched, more', percent(left), `<= ${100 * NOISE} % (noise)`, left <= NOISE);
}

const PAGES = [
  ['Overview', '/', 'Overview'],
  ['Endpoint', '/endpoints/default/default', 'replicas'],
  ['Requests', '/requests', 'Requests'],
] as const;

async function opened(page: Page, url: string, heading: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('heading', { name: heading }).first().waitFor();
  await sleep(1000);
}

/** Processor time of a process with all its threads, in milliseconds. */
function ownMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
