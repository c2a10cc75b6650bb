import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';

const resolve = createRequire(import.meta.url).resolve;
const AXE = readFileSync(resolve('axe-core/axe.min.js'), 'utf8');

/** A real Chromium from a package of npm; null, with a line that says why, where it cannot start. In CI that is a failure. */
export async function launchBrowser(): Promise<Browser | null> {
  try {
    const executablePath = await unpacked();
    return await playwright.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
      headless: true,
    });
  } catch (error) {
    if (process.env.CI) throw error;
    process.stderr.write(`skipped: no browser can start here (${(error as Error).message.split('\n')[0]})\n`);
    return null;
  }
}

/** Unpacks Chromium once, into a folder of its own: the package itself takes a file that another process still writes. */
async function unpacked(): Promise<string> {
  const folder = join(tmpdir(), `twinyard-chromium-${chromiumVersion()}-${userInfo().uid}`);
  if (!existsSync(folder)) {
    const { TMPDIR } = process.env;
    const fresh = mkdtempSync(`${folder}-`);
    try {
      process.env.TMPDIR = fresh;
      await chromium.executablePath();
      renameSync(fresh, folder);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      // Another process may have been first.
      if (!existsSync(folder)) throw error;
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
  }
  return join(folder, 'chromium');
}

function chromiumVersion(): string {
  const folder = dirname(dirname(dirname(resolve('@sparticuz/chromium'))));
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
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
