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
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
  const page = await context.newPage();
  await page.goto(link);
  const { origin } = new URL(link);
  // The first picture of README.md: the tour over the overview.
  const tour = page.getByRole('dialog');
  await tour.waitFor();
  await pause(WARM_UP_MS);
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, 'console-start.png') });
  await page.keyboard.press('Escape');
  await tour.waitFor({ state: 'detached' });
  const take = async (name, path, colorScheme = 'light') => {
    await page.emulateMedia({ colorScheme });
    await page.goto(origin + path);
    await page.locator('h1').waitFor();
    await pause(3000);
    await page.screenshot({ path: join(folder, `console-${name}.png`) });
  };
  await take('overview', '/');
  await take('endpoint', '/endpoints/default/default', 'dark');
  await take('requests', '/requests');
  await page.locator('tbody a').first().click();
  await page.getByText('Why this replica').waitFor();
  await pause(1500);
  await page.screenshot({ path: join(folder, 'console-request.png'), fullPage: true });
  await page.goto(`${origin}/lab`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.verdict').waitFor();
  await pause(1500);
  await page.locator('.verdict').evaluate((verdict) => verdict.scrollIntoView());
  await page.evaluate('scrollBy(0, -70)');
  await page.screenshot({ path: join(folder, 'console-lab.png') });
  await take('shadows', '/endpoints/default/default?tab=shadows');
  await page.goto(`${origin}/whatif?policy=round-robin&replicas=1`);
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('.verdict').waitFor({ timeout: 300_000 });
  await page.screenshot({ path: join(folder, 'console-whatif.png'), fullPage: true });
  await take('usage', '/keys?tab=usage', 'dark');
  await take('playground', '/playground');
} finally {
  await browser.close();
  demo.kill('SIGTERM');
  await once(demo, 'exit');
}
