import { expect, test } from 'vitest';
import { accessProblems } from '../launch-browser.js';
import { readCommand } from './command-check.js';
import { type Visit, WAIT_MS } from './visit.js';

const EDITED = 'endpoints/default/edited';

/** Edit by form and YAML, a change from elsewhere, the way back, a pause. */
export function endpointJourneys({ page, yard }: Visit): void {
  const spec = async () => (await yard.call('GET', `workspaces/default/endpoints/edited`)).spec;
  const yaml = () => page().getByRole('textbox', { name: 'YAML' });
  const form = () => page().getByRole('region', { name: 'Form' });
  const change = async (button: 'Apply' | 'Create') => {
    await page().getByRole('button', { name: 'Preview the change' }).click();
    await page().getByRole('dialog').getByRole('button', { name: button }).click();
    await page().getByRole('dialog').waitFor({ state: 'hidden' });
  };

  test('an endpoint is edited by a form made from its schema, and by the YAML beside it', async () => {
    await yard.declare('edited', 0, 'edited');
    await page().goto(`${yard.adminUrl}/${EDITED}?tab=yaml`);
    await form().getByLabel('placement').selectOption('spread');
    await form().getByRole('group', { name: 'variables' }).getByLabel('speed', { exact: true }).fill('40');
    await expect.poll(() => yaml().inputValue(), { timeout: WAIT_MS }).toContain('speed: 40');
    await yaml().fill((await yaml().inputValue()).replace('serve_as: edited', 'serve_as: renamed'));
    expect(await form().getByRole('group', { name: 'model' }).getByLabel('serve_as').inputValue()).toBe('renamed');
    await page().getByRole('button', { name: 'Preview the change' }).click();
    const dialog = page().getByRole('dialog');
    await dialog.getByText('spec.placement').waitFor();
    expect(await dialog.locator('.diff-after').allTextContents()).toEqual(
      expect.arrayContaining(['after: + spread', 'after: + renamed', 'after: + 40']),
    );
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await spec()).toMatchObject({
      placement: 'spread',
      variables: { speed: 40 },
      model: { serve_as: 'renamed' },
    });
  });

  test('what the schema refuses is said at its place, and text that is no YAML has no form', async () => {
    await yaml().fill((await yaml().inputValue()).replace('placement: spread', 'placement: elsewhere'));
    await page().getByRole('button', { name: 'Preview the change' }).click();
    await page().getByRole('alert').filter({ hasText: 'spec.placement' }).waitFor();
    await yaml().fill('a: [');
    await page().getByRole('alert').filter({ hasText: 'there is no form' }).waitFor();
    await page().getByRole('button', { name: 'Reset' }).click();
    await form().getByLabel('placement').waitFor();
  });

  test('a change from elsewhere is shown before it is overwritten', async () => {
    await form()
      .locator('summary', { hasText: /^deployment / })
      .click();
    await form().getByLabel('max_surge').fill('3');
    await yard.call('PATCH', 'workspaces/default/endpoints/edited', { spec: { placement: 'pack' } });
    const notice = page().getByRole('alert').filter({ hasText: 'changed elsewhere' });
    await notice.locator('.diff-after', { hasText: 'pack' }).waitFor();
    expect(await form().getByLabel('max_surge').inputValue()).toBe('3');
    expect(await accessProblems(page())).toEqual([]);
    await notice.getByRole('button', { name: 'Discard my changes' }).click();
    await form().getByLabel('max_surge').fill('2');
    await change('Apply');
    expect(await spec()).toMatchObject({ placement: 'pack', deployment: { max_surge: 2 } });
  });

  test('a rollout shows its revisions, and one of them is restored', async () => {
    await page().getByRole('link', { name: 'Rollout' }).click();
    await page().getByText('0 of 0 replicas ready').waitFor();
    await page()
      .getByRole('cell', { name: /placement: "spread" → "pack"/ })
      .waitFor();
    await page().getByRole('button', { name: 'Undo to revision 1', exact: true }).click();
    await page().getByRole('dialog').locator('.diff-after', { hasText: '20' }).waitFor();
    await page().getByRole('dialog').getByRole('button', { name: 'Undo', exact: true }).click();
    await page().getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await spec()).toMatchObject({ variables: { speed: 20 }, model: { serve_as: 'edited' } });
  });

  test('the log of the replicas is followed and searched, and the search is in the address', async () => {
    await page().goto(`${yard.adminUrl}/endpoints/default/chat?tab=logs`);
    await page().locator('.log-line').first().waitFor();
    await page().getByLabel('Find in the log').fill('text that no line has');
    await page().getByText('No line has this text').waitFor();
    expect(new URL(page().url()).searchParams.get('find')).toBe('text that no line has');
    await page().getByLabel('Replica', { exact: true }).selectOption({ index: 1 });
    const replica = new URL(page().url()).searchParams.get('replica');
    expect(replica).not.toBeNull();
    expect(await readCommand(page(), 'twinyard logs')).toEqual({ operands: ['ep/chat'], follow: true, replica });
    await page().getByLabel('Which log').selectOption('previous');
    expect(await readCommand(page(), 'twinyard logs')).toEqual({ operands: ['ep/chat'], previous: true });
    await page().getByLabel('Which log').selectOption('present');
    await page().getByLabel('Find in the log').fill('');
    const line = page()
      .locator('.log-line', { hasText: /^\S+ .*\S/ })
      .first();
    const word = (await line.textContent())!.trim().split(/\s+/).at(-1)!;
    await page().getByLabel('Find in the log').fill(word);
    await page().locator('.log-line mark', { hasText: word }).first().waitFor();
    await page().goto(`${yard.adminUrl}/endpoints/default/chat?tab=logs&replica=gone`);
    await page().getByRole('alert').filter({ hasText: 'gone' }).getByRole('button', { name: 'Try again' }).waitFor();
    await page().getByLabel('Which log').selectOption('previous');
    await page().waitForURL((url) => url.searchParams.has('previous') && !url.searchParams.has('replica'));
    await page().goto(`${yard.adminUrl}/${EDITED}`);
  });

  test('an endpoint is paused and resumed with the replicas that it had', async () => {
    await yard.call('PUT', 'workspaces/default/endpoints/edited/scale', { replicas: 1 });
    await page().getByRole('button', { name: 'Pause' }).click();
    await page().getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page().getByRole('dialog').waitFor({ state: 'hidden' });
    await page().getByRole('button', { name: 'Resume' }).click();
    await page().getByText('1 replica starts, as before the pause').waitFor();
    await page().getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect((await spec()).replicas).toBe(0);
  });

  test('an endpoint that the gateway does not serve is shown as it is declared, and deleted', async () => {
    const error = { code: 'ENDPOINT_UNKNOWN', message: 'does not exist', hint: '' };
    const live = '**/endpoints/edited/live';
    await page().route(live, (route) => route.fulfill({ status: 404, json: { error } }));
    await page().goto(`${yard.adminUrl}/${EDITED}`);
    await page().getByText('not served by this gateway now').waitFor();
    await page().getByRole('heading', { name: 'Revisions' }).waitFor();
    const parts = page().getByRole('navigation', { name: 'Parts of the endpoint' }).getByRole('link');
    expect(await parts.allTextContents()).toEqual(['Rollout', 'Events', 'Logs', 'YAML']);
    expect(await accessProblems(page())).toEqual([]);
    await page().unroute(live);
    await page().getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page().getByRole('dialog');
    await dialog.getByLabel('Type edited to confirm').fill('edited');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page().getByRole('heading', { name: 'Overview' }).waitFor();
    const status = async () => (await yard.call('GET', `workspaces/default/endpoints/edited`)).error?.code;
    await expect.poll(status, { timeout: WAIT_MS }).toBe('RESOURCE_UNKNOWN');
  });

  test('the policy of an endpoint of the file is swapped and returned to, and a replica of it drained for good', async () => {
    const inForce = (policy: string) => page().locator('.facts strong', { hasText: policy }).waitFor();
    await page().goto(`${yard.adminUrl}/endpoints/default/fixed?tab=policy`);
    await page().getByLabel('Routing policy').selectOption('lmetric');
    await page().getByRole('button', { name: 'Preview the swap' }).click();
    await page().getByRole('button', { name: 'Swap', exact: true }).click();
    await inForce('lmetric');
    await page().getByRole('button', { name: 'Return to unified' }).click();
    const dialog = page().getByRole('dialog');
    await dialog.locator('.diff-after', { hasText: 'unified' }).waitFor();
    await dialog.getByText('/endpoints/fixed/policy/rollback').waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: 'Return', exact: true }).click();
    await inForce('unified');
    await page().getByRole('link', { name: 'Replicas' }).click();
    await page().getByRole('button', { name: 'Drain a' }).click();
    await dialog.getByText('It is not replaced').waitFor();
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
    await page().getByRole('heading', { name: '1 replica', exact: true }).waitFor();
    expect(await page().getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
  });
}
