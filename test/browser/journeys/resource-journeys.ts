import { expect, test } from 'vitest';
import { readCommand } from './command-check.js';
import { type Visit, WAIT_MS } from './visit.js';

/** Create, find, change and delete resources; narrow everything to a workspace. */
export function resourceJourneys({ page, yard }: Visit): void {
  test('a workspace is created by its form, and found by the server', async () => {
    await page().goto(`${yard.adminUrl}/resources?kind=workspaces`);
    await page().getByRole('link', { name: 'New Workspace' }).click();
    await page().getByRole('group', { name: 'metadata' }).getByLabel('name *', { exact: true }).fill('search');
    await page().getByRole('region', { name: 'Form' }).getByLabel('description').fill('The search team');
    await page().getByRole('button', { name: 'Preview the change' }).click();
    await page().getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page().getByRole('heading', { name: 'Workspace / search' }).waitFor();
    await page().goto(`${yard.adminUrl}/resources?kind=workspaces`);
    await page().getByLabel('Name contains').fill('sea');
    await page().keyboard.press('Enter');
    await expect.poll(() => page().locator('tbody tr').count(), { timeout: WAIT_MS }).toBe(1);
    expect(new URL(page().url()).search).toBe('?kind=workspaces&search=sea');
    await page().getByRole('link', { name: 'search' }).click();
    await page().getByText('The search team').waitFor();
  });

  test('a workspace is chosen in the top bar, and pages and totals are narrowed to it', async () => {
    await page().goto(yard.adminUrl);
    await page().getByRole('region', { name: 'Endpoints' }).getByRole('link', { name: 'default/chat' }).waitFor();
    await page().getByLabel('Workspace', { exact: true }).selectOption('search');
    await page().getByText('No endpoint is served yet').waitFor();
    await page().locator('.stat', { hasText: 'Replicas ready' }).getByText('0 / 0').waitFor();
    await page().getByRole('link', { name: 'Keys and usage' }).click();
    await page().getByText('API keys of workspace search').waitFor();
    expect(new URL(page().url()).search).toBe('?workspace=search');
    // What another workspace does not have is dropped from the address.
    await page().goto(`${yard.adminUrl}/requests?endpoint=chat&outcome=ok&workspace=default`);
    await page().getByLabel('Workspace', { exact: true }).selectOption('search');
    await page().getByText('No request fits').waitFor();
    expect(new URL(page().url()).search).toBe('?outcome=ok&workspace=search');
    await page().getByRole('link', { name: 'Show all' }).click();
    await page().waitForURL((url) => url.search === '');
  });

  test('without a control plane nothing is offered that it would have to carry out', async () => {
    const session = '**/api/v1/session';
    await page().route(session, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), has_control: false } });
    });
    await page().goto(`${yard.adminUrl}/resources?kind=modelregistries`);
    await page().getByText('This gateway has no control plane').waitFor();
    expect(await page().getByRole('link', { name: 'New ModelRegistry' }).count()).toBe(0);
    await page().unroute(session);
  });

  test('a configuration that cannot be reloaded says where it is wrong', async () => {
    const problems = ['listen.port', 'limits'].map((place) => ({ place, problem: 'is not known', hint: '' }));
    const error = { code: 'CONFIG_INVALID', message: 'twinyard.yaml has 2 problems', hint: 'correct it', problems };
    await page().route('**/config/reload', (route) => route.fulfill({ status: 400, json: { error } }), { times: 1 });
    await page().goto(`${yard.adminUrl}/settings`);
    await page().getByText('responds, a query took').waitFor();
    await page().getByRole('button', { name: 'Reload the file' }).click();
    await page()
      .getByRole('alert')
      .filter({ hasText: /correct it.*listen\.port.*limits/s })
      .waitFor();
  });

  test('what changed says who changed it, and a resource is deleted once its name is typed', async () => {
    await page().goto(`${yard.adminUrl}/resources/workspaces/search`);
    await page().getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page().getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type search to confirm').fill('search');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page().getByRole('heading', { name: 'Resources' }).waitFor();
    await page().goto(yard.adminUrl);
    const row = page().locator('tr', { hasText: 'Workspace search' });
    await row
      .filter({ hasText: /delete.*admin/ })
      .first()
      .waitFor();
    await page().getByRole('link', { name: 'All changes' }).click();
    await page().getByRole('link', { name: 'Audit log' }).click();
    await page().getByLabel('Kind').selectOption('Workspace');
    await page().getByLabel('Name is').fill('search');
    await page().keyboard.press('Enter');
    const named = async () => [...new Set(await page().locator('tbody tr td:nth-child(2)').allTextContents())];
    await expect.poll(named, { timeout: WAIT_MS }).toEqual(['Workspace search']);
    expect(new URL(page().url()).search).toBe('?of=audit&kind=Workspace&name=search');
    const { operands, ...flags } = await readCommand(page(), 'twinyard events');
    expect([operands, flags]).toEqual([['workspace/search'], { audit: true, 'all-workspaces': true }]);
  });
}
