// Takes the pictures of docs/console.md from a demo that runs: 'npm run build' first, then 'node scripts/console-pictures.mjs'.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import sparticuz from '@sparticuz/chromium';
import { chromium } from 'playwright-core';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'docs', 'pictures');
/** Until the courses have something to show. */
const WARM_UP_MS = 60_000;
/** Until a page has loaded its data and drawn it. */
const SETTLE_MS = 3000;
const VIEW = { width: 1280, height: 800 };
const MOST_HEIGHT = 1300;

const demo = spawn(process.execPath, [join(root, 'dist/bundle/main.js'), 'demo', '--port', '0', '--demo-load'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let link = '';
for await (const line of createInterface({ input: demo.stdout })) {
  link = line.trim();
  if (link.includes('#login=')) break;
}
const browser = await chromium.launch({ executablePath: await sparticuz.executablePath(), args: ['--no-sandbox'] });
try {
  const context = await browser.newContext({ viewport: VIEW, deviceScaleFactor: 1 });
  const page = await context.newPage();
  const { origin } = new URL(link);
  const to = async (path, colorScheme = 'light') => {
    await page.emulateMedia({ colorScheme });
    await page.goto(origin + path);
    await page.locator('h1').waitFor();
    await pause(SETTLE_MS);
  };
  /** @param height of pages that are longer than the window, at most `MOST_HEIGHT` */
  const shoot = async (name, height = VIEW.height) => {
    await page.setViewportSize({ ...VIEW, height: Math.min(height, MOST_HEIGHT) });
    await page.screenshot({ path: join(folder, `console-${name}.png`) });
    await page.setViewportSize(VIEW);
  };
  const whole = async (name) =>
    shoot(name, await page.evaluate('document.querySelector("main").getBoundingClientRect().bottom + scrollY'));
  // The first picture of README.md: the tour over the overview.
  await page.goto(link);
  const tour = page.getByRole('dialog');
  await tour.waitFor();
  await pause(WARM_UP_MS);
  mkdirSync(folder, { recursive: true });
  await shoot('start');
  await page.keyboard.press('Escape');
  await tour.waitFor({ state: 'detached' });
  await to('/');
  await shoot('overview');
  await to('/endpoints/default/default', 'dark');
  await shoot('endpoint');
  await to('/endpoints/default/default?tab=policy');
  await page.getByLabel('Routing policy').selectOption('lmetric');
  await page.getByRole('button', { name: 'Preview the swap' }).click();
  await page.getByRole('button', { name: 'Swap', exact: true }).waitFor();
  await shoot('policy');
  await to('/endpoints/default/default?tab=shadows');
  await shoot('shadows');
  await to('/requests');
  await shoot('requests');
  await page.locator('tbody a').first().click();
  await page.getByText('Why this replica').waitFor();
  await pause(SETTLE_MS);
  await whole('request');
  await to('/lab');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.verdict').waitFor();
  await pause(SETTLE_MS);
  await page.locator('.verdict').evaluate((verdict) => verdict.scrollIntoView());
  await page.evaluate('scrollBy(0, -70)');
  // The pointer is where Run was: it would mark a row.
  await page.mouse.move(0, 0);
  await shoot('lab');
  await to('/whatif?policy=round-robin,least-loaded,lmetric,random');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.locator('.verdict').waitFor({ timeout: 300_000 });
  await page.locator('.verdict').evaluate((verdict) => verdict.scrollIntoView());
  await page.evaluate('scrollBy(0, -70)');
  await shoot('whatif');
  await to('/playground?system=Be+brief.&max_tokens=48');
  await page.getByRole('button', { name: 'Add a model' }).click();
  await page.getByLabel('Message', { exact: true }).fill('Why this replica?');
  await page.keyboard.press('Enter');
  for (const i of [0, 1])
    await page
      .getByText(/tokens\/s$/)
      .nth(i)
      .waitFor();
  await shoot('playground');
  await to('/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('search-team');
  await page.getByLabel('Tokens per day, UTC').fill('2000000');
  await shoot('keys');
  await to('/keys?tab=usage', 'dark');
  await shoot('usage');
  await to('/resources');
  await shoot('resources');
  await to('/settings');
  await shoot('settings');
} finally {
  await browser.close();
  demo.kill('SIGTERM');
  await once(demo, 'exit');
}
