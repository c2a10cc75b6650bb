import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Visit, WAIT_MS } from './visit.js';

const LIST = /\/api\/v1\/requests\?/;

/** The list of requests while it is read, and what is open while its tab is out of view. */
export function requestJourneys({ page, yard }: Visit): void {
  test('the list of requests stands still while it is read, and is live again at its top', async () => {
    await page().goto(`${yard.adminUrl}/requests`);
    const [item] = (await yard.call('GET', 'requests?id=load-7')).items;
    const read = { first: 0, further: 0 };
    await page().route(LIST, (route) => {
      const isFirst = !route.request().url().includes('cursor=');
      read[isFirst ? 'first' : 'further']++;
      const items = Array.from({ length: isFirst ? 100 : 500 }, (_, i) => ({ ...item, id: `${isFirst}-${i}` }));
      const json = { items, next: isFirst ? 'more' : null, total: 600, is_more: false, store_problem: null };
      return route.fulfill({ json });
    });
    await page().setViewportSize({ width: 1440, height: 1200 });
    await page().goto(`${yard.adminUrl}/requests`);
    await expect.poll(() => read.first, { timeout: WAIT_MS }).toBeGreaterThan(1);
    expect(read.further).toBe(0);
    const scroll = (to: string) => page().evaluate(`document.querySelector('.table-tall').scrollTop = ${to}`);
    await scroll('1e9');
    await page().getByText('Stands still while you read').waitFor();
    await expect.poll(() => read.further, { timeout: WAIT_MS }).toBe(1);
    await scroll('0');
    await page().getByText('Stands still while you read').waitFor({ state: 'detached' });
    const before = read.first;
    await expect.poll(() => read.first, { timeout: WAIT_MS }).toBeGreaterThan(before);
    expect(read.further).toBe(1);
    await scroll('1e9');
    await page().getByRole('button', { name: 'Latest' }).click();
    await page().getByRole('link', { name: 'true-0', exact: true }).waitFor();
    await page().getByRole('button', { name: 'Latest' }).waitFor({ state: 'detached' });
    await page().unroute(LIST);
    await page().setViewportSize({ width: 1440, height: 900 });
  });

  test('requests are filtered by time and by the name of a key, and their key is a link', async () => {
    await page().goto(`${yard.adminUrl}/requests?id=load-7`);
    await page().getByLabel('Ended from, UTC').fill('2030-01-31T12:00:00');
    await page().getByLabel('Ended from, UTC').press('Enter');
    await page().getByText('No request fits').waitFor();
    expect(new URL(page().url()).searchParams.get('from')).toBe('2030-01-31T12:00:00.000Z');
    await page().getByRole('button', { name: 'Clear' }).click();
    await page().getByLabel('Key', { exact: true }).fill('load');
    await page().keyboard.press('Enter');
    await page().waitForURL((url) => url.searchParams.has('key'));
    await expect
      .poll(() => page().getByLabel('Key', { exact: true }).inputValue(), { timeout: WAIT_MS })
      .toBe('default/load');
    await page().getByRole('link', { name: 'load-7', exact: true }).click();
    await page().getByRole('link', { name: 'default/load', exact: true }).click();
    await page().getByRole('heading', { name: 'API keys / default / load' }).waitFor();
  });

  test('a tab that is out of view leaves its connection to the others', async () => {
    await page().goto(`${yard.adminUrl}/`);
    await page().getByRole('button', { name: 'Live' }).waitFor();
    const closed = ended(page(), '/api/v1/watch');
    await show(false);
    await closed;
    const opened = page().waitForRequest((one) => one.url().includes('/api/v1/watch'));
    await show(true);
    await opened;
    await page().getByRole('button', { name: 'Live' }).waitFor();
  });

  const show = (isShown: boolean) =>
    page().evaluate(`{
      Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isShown} });
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
}

/** Resolves when a stream has ended. */
const ended = (page: Page, path: string) =>
  Promise.race(
    (['requestfinished', 'requestfailed'] as const).map((event) =>
      page.waitForEvent(event as 'requestfailed', (one) => one.url().includes(path)),
    ),
  );
