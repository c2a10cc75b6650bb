import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import chromium from '@sparticuz/chromium';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A real Chromium from a package of npm; null, with a line that says why, where it cannot start. */
export async function launchBrowser(): Promise<Browser | null> {
  try {
    const executablePath = await chromium.executablePath();
    return await playwright.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
      headless: true,
    });
  } catch (error) {
    process.stderr.write(`skipped: no browser can start here (${(error as Error).message.split('\n')[0]})\n`);
    return null;
  }
}

/** What is not accessible on a page, as axe reports it. @param skipped names of rules */
export async function accessProblems(page: Page, skipped: readonly string[] = []): Promise<string[]> {
  await page.evaluate(AXE);
  const rules = JSON.stringify(Object.fromEntries(skipped.map((name) => [name, { enabled: false }])));
  const found = await page.evaluate(`axe.run({ rules: ${rules} }).then(({ violations }) => violations)`);
  return (found as { id: string; nodes: { html: string; failureSummary: string }[] }[]).flatMap(({ id, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
