import { expect, test } from 'vitest';
import { accessProblems } from '../launch-browser.js';
import { type Visit, WAIT_MS } from './visit.js';

const ONE = 'workspaces/default/endpoints/chat';
/** Fewer requests before a switch say nothing. */
const GUARDED = 50;

/** Questions about recorded traffic, and a switch that is watched. @param found the address of a question that has a result */
export function whatIfJourneys({ page, yard }: Visit, found: (search: string) => void): void {
  const asks = (more: string) => page().goto(`${yard.adminUrl}/whatif?workspace=default&endpoint=chat${more}`);
  const ask = () => page().getByRole('button', { name: 'Ask', exact: true }).click();
  const accessible = async () => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page().emulateMedia({ colorScheme });
      expect(await accessProblems(page()), colorScheme).toEqual([]);
    }
  };
  const policyInForce = async () => (await yard.call('GET', ONE)).spec.routing.policy;

  test('what would have been is asked, with its error, and can be served', async () => {
    await yard.pinProfile('chat');
    await asks('');
    await page().getByLabel('round-robin', { exact: true }).check();
    await page().getByLabel('Replicas').fill('2');
    await ask();
    await page().locator('.verdict', { hasText: 'round-robin on 2 replicas' }).waitFor();
    const { search } = new URL(page().url());
    expect(search).toMatch(/policy=round-robin.*replicas=2.*to=.*job=/);
    found(search);
    await page().getByText('Calibrated error, TTFT mean').waitFor();
    expect(await page().locator('tr', { hasText: 'TTFT mean' }).locator('.interval').count()).toBe(1);
    await accessible();
    await page().getByText('As a command').click();
    await page()
      .getByText(`twinyard whatif --gateway ${yard.adminUrl} --endpoint default/chat --last 1h --to`)
      .waitFor();
    await page().getByRole('button', { name: 'Serve this policy' }).click();
    await page().locator('.diff-after', { hasText: 'round-robin' }).waitFor();
    await page().getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page()
      .getByRole('link', { name: /What if: round-robin, 2 replicas/ })
      .waitFor();
    await page().getByRole('link', { name: 'Least fleet', exact: true }).click();
    await page().getByLabel('TTFT p99 at most, ms').waitFor();
    expect(await page().locator('.tab[aria-current=page]').allTextContents()).toEqual(['Least fleet']);
  });

  test('several policies are compared in a picture and a table, and the link has all of the question', async () => {
    await asks('&admission=token-bucket');
    await page().getByLabel('least-loaded', { exact: true }).check();
    await page().getByText('Options of least-loaded').click();
    await page().getByLabel('tie_break').selectOption('first');
    await page().getByRole('button', { name: 'Once more: least-loaded' }).click();
    await page().getByLabel('tie_break').nth(1).selectOption('random');
    await page().getByLabel('capacity').fill('1000000');
    await page().getByLabel('refill_rate').fill('1000000');
    await ask();
    const table = page().getByRole('region', { name: 'Differences of the policies' });
    await table.waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      ...['Metric', 'As it was', 'As simulated', 'Error'],
      ...['least-loaded tie_break=first', 'least-loaded tie_break=random'],
    ]);
    expect(await table.locator('.difference-interval').count()).toBe(2 * (await table.locator('tbody tr').count()));
    expect(await page().locator('.policy-bar-interval').count()).toBe(2);
    await page().getByLabel('Metric in the picture').selectOption('e2e_mean_ms');
    await page().getByRole('heading', { name: 'E2E mean with each policy, the least first' }).waitFor();
    await accessible();
    const { searchParams } = new URL(page().url());
    const { asked } = await yard.call('GET', `jobs/${searchParams.get('job')}`);
    expect(asked).toMatchObject({
      policies: [
        { policy: 'least-loaded', options: { tie_break: 'first' } },
        { policy: 'least-loaded', options: { tie_break: 'random' } },
      ],
      admission: { policy: 'token-bucket', options: { capacity: 1_000_000, refill_rate: 1_000_000 } },
      to: searchParams.get('to'),
    });
    const verdict = await page().locator('.verdict').textContent();
    await page().goto(page().url());
    await page().getByRole('heading', { name: 'E2E mean with each policy, the least first' }).waitFor();
    expect(await page().locator('.verdict').textContent()).toBe(verdict);
    const other = page().getByRole('status').filter({ hasText: 'another question than the form shows' });
    expect(await other.count()).toBe(0);
    await page().getByLabel('Replicas').fill('3');
    await other.getByRole('link', { name: 'Restore its question' }).click();
    await other.waitFor({ state: 'detached' });
    expect(await page().getByLabel('Replicas').inputValue()).toBe('');
    // What is served is what was simulated, as far as a policy can be.
    const card = page().locator('.card', {
      has: page().getByRole('heading', { name: 'least-loaded tie_break=random', exact: true }),
    });
    await card.getByRole('button', { name: 'Serve this policy' }).click();
    const dialog = page().getByRole('dialog', { name: 'Serve least-loaded' });
    await dialog.locator('.diff-after', { hasText: 'random' }).waitFor();
    await dialog
      .getByText('Not changed by this: admission token-bucket capacity=1000000 refill_rate=1000000')
      .waitFor();
    await dialog.getByText('As a command').click();
    await dialog.getByText(/^curl -X POST .*policy\/switch.*"options":\{"tie_break":"random"\}/).waitFor();
    expect(await accessProblems(page())).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('the best policy is advised, served with a guard, found again after a reload, and undone', async () => {
    await yard.call('PATCH', ONE, { spec: { routing: { policy: 'round-robin', options: null } } });
    await Promise.all(Array.from({ length: GUARDED }, (_, i) => yard.chat(`guarded-${i}`)));
    await asks(`&ask=advice&policy=lmetric,random&metric=ttft_mean_ms&to=${yard.recordedTo}`);
    await ask();
    await page().locator('.verdict', { hasText: 'Switch from round-robin to lmetric: TTFT mean' }).waitFor();
    await page().getByRole('heading', { name: 'What the switch costs' }).waitFor();
    await page().getByRole('rowheader', { name: 'lmetric best' }).waitFor();
    await accessible();
    await page().getByRole('button', { name: 'Serve this policy' }).click();
    const dialog = page().getByRole('dialog', { name: 'Serve lmetric' });
    await dialog.locator('.diff-after', { hasText: 'lmetric' }).waitFor();
    await dialog.getByRole('combobox', { name: 'Guard' }).selectOption('errors');
    await dialog.getByLabel('At most so many points more').fill('50');
    await dialog.getByLabel('Watch for').selectOption('1h');
    expect(await accessProblems(page())).toEqual([]);
    await dialog.getByRole('button', { name: 'Switch and watch' }).click();
    const card = page().locator('.card', {
      hasText: 'Switch to lmetric: Failed requests at most 50 points more, for 1h',
    });
    await card.getByText('Watching, seconds').waitFor();
    expect(await policyInForce()).toBe('lmetric');
    await asks('');
    await card.getByText(/of 50 requests ended|allowed/).waitFor();
    await card.getByRole('button', { name: 'Go back now' }).click();
    await card.getByText('Cancelled: the former policy is served again.').waitFor();
    expect(await policyInForce()).toBe('round-robin');
  });

  test('a question that waits is found after a reload and cancelled, and one that fails says why', async () => {
    // One job computes at a time: the question of the page waits until this one is cancelled.
    const policies = ['lmetric', 'unified', 'sticky', 'random'].map((policy) => ({ policy }));
    const long = await yard.call('POST', `${ONE}/whatif`, { policies, runs: 100 });
    await asks('&policy=random');
    await ask();
    const status = page().getByText('Waiting for other jobs to end');
    await status.waitFor();
    await page().reload();
    await status.waitFor();
    await page().locator('.job-progress').getByRole('button', { name: 'Cancel' }).click();
    await page().getByText('The question was cancelled.').waitFor();
    await yard.call('DELETE', `jobs/${long.id}`);
    await asks('&policy=random&to=2001-02-03T04:05:06Z');
    await ask();
    await page()
      .getByRole('alert')
      .filter({ hasText: 'recording of endpoint default/chat: has no requests' })
      .waitFor();
    await expect
      .poll(
        () =>
          page()
            .getByRole('cell', { name: /^(cancelled|failed)$/ })
            .count(),
        { timeout: WAIT_MS },
      )
      .toBeGreaterThan(2);
  });
}
