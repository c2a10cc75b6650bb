import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessProblems } from '../launch-browser.js';
import { type Visit, WAIT_MS } from './visit.js';

const ENDED = { name: 'Your session has ended' };

async function logInAgain(page: Page, credential: string): Promise<void> {
  await page.getByLabel('Admin token, or API key with a role').fill(credential);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** What a visitor brings about who comes back to the tab. */
const comesBack = (page: Page) =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");

/** Sessions that end, visitors who follow each other, a gateway that was updated. */
export function sessionJourneys({ logIn, yard }: Visit): void {
  test('an ended session is opened again over its page, and another visitor in the same tab starts afresh', async () => {
    const viewer = await yard.issue('reading', { role: 'viewer' });
    const { context, page } = await logIn(yard.token);
    await expect.poll(() => page.title(), { timeout: WAIT_MS }).toBe('Overview · Twinyard');
    // As on plain HTTP elsewhere than on this machine.
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.goto(`${yard.adminUrl}/endpoints/default/chat?tab=yaml`);
    await page.getByLabel('placement', { exact: true }).selectOption('spread');
    await page.evaluate("document.addEventListener('copy', () => { window.copied = document.activeElement.value; })");
    await page.getByText('As a command').click();
    const command = page.locator('.as-command .command').first();
    await command.getByRole('button').click();
    expect(await page.evaluate('window.copied')).toBe(await command.locator('code').textContent());
    await command.getByText('Copied').waitFor();
    await page.evaluate('window.isFormer = true');
    // Only the change can notice the end.
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByRole('button', { name: 'Paused' }).waitFor();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Preview the change' }).click();
    const dialog = page.getByRole('dialog', ENDED);
    await dialog.waitFor();
    expect(await accessProblems(page)).toEqual([]);
    await logInAgain(page, 'wrong');
    await dialog.getByRole('alert').filter({ hasText: 'missing or wrong' }).waitFor();
    await logInAgain(page, yard.token);
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('textbox', { name: 'YAML' }).inputValue()).toContain('placement: spread');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Preview the change' }).click();
    await dialog.waitFor();
    await logInAgain(page, viewer);
    await page.getByRole('button', { name: 'Logged in as default/reading' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await page.evaluate('window.isFormer')).toBeUndefined();
    await leaves(page);
    await context.close();
  });

  async function leaves(page: Page): Promise<void> {
    await page.route('**/api/v1/session', (route) => route.abort());
    await page.getByRole('button', { name: /^Logged in as/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    const still = page.getByRole('dialog', { name: 'You are still logged in' });
    await still.getByText('cannot be reached').waitFor();
    await page.unroute('**/api/v1/session');
    await still.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('Admin token, or API key with a role').waitFor();
    expect(await page.title()).toBe('Log in · Twinyard');
  }

  test('an update of the gateway is said, and a page that cannot be loaded offers to reload', async () => {
    const { context, page } = await logIn(yard.token);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.route('**/assets/settings-page*', (route) => route.abort());
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
    await page.unroute('**/assets/settings-page*');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.route('**/api/v1/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), version: '99.0.0' } });
    });
    await comesBack(page);
    await page.getByText('The gateway was updated').waitFor();
    await page.getByRole('link', { name: 'Requests' }).click();
    await expect.poll(() => page.title(), { timeout: WAIT_MS }).toBe('Requests · Twinyard');
    const focused = () => page.evaluate('document.activeElement.closest("main") !== null');
    await expect.poll(focused, { timeout: WAIT_MS }).toBe(true);
    await context.close();
  });
}

/** The last one: no session outlives the gateway. */
export function lostGatewayJourney({ page, yard }: Visit): void {
  test('a lost gateway is shown, and found again: its list of requests is live, its job is over', async () => {
    const list = await page().context().newPage();
    list.setDefaultTimeout(WAIT_MS);
    await list.goto(`${yard.adminUrl}/requests`);
    await list.getByRole('button', { name: 'Live' }).waitFor();
    await page().goto(`${yard.adminUrl}/lab`);
    await page().getByLabel('Requests', { exact: true }).fill('100000');
    await page().getByLabel('Seeds: runs of each policy').fill('8');
    await page().getByRole('button', { name: 'Run', exact: true }).click();
    await page().locator('.job-progress').waitFor();
    await yard.kill();
    for (const one of [page(), list]) await one.getByText('The connection to the gateway is lost').waitFor();
    await yard.start();
    // Sessions are in memory: the visitor logs in again, in one of the tabs.
    await page().getByRole('dialog', ENDED).waitFor();
    await logInAgain(page(), yard.token);
    await page().getByText('This run is not kept any more').waitFor();
    expect(await page().locator('.job-progress').count()).toBe(0);
    expect(await page().getByRole('button', { name: 'Run', exact: true }).isEnabled()).toBe(true);
    await comesBack(list);
    await list.getByRole('dialog', ENDED).waitFor({ state: 'detached' });
    await list.getByRole('button', { name: 'Live' }).waitFor();
    await list.waitForResponse((one) => one.url().includes('/api/v1/requests?') && one.ok());
    await list.close();
  });
}
