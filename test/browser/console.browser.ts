import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConsoleYard } from './console-yard.js';
import { commandsOn, refusalOf } from './journeys/command-check.js';
import { endpointJourneys } from './journeys/endpoint-journeys.js';
import { keyJourneys } from './journeys/key-journeys.js';
import { requestJourneys } from './journeys/request-journeys.js';
import { resourceJourneys } from './journeys/resource-journeys.js';
import { lostGatewayJourney, sessionJourneys } from './journeys/session-journeys.js';
import { type Visit, WAIT_MS } from './journeys/visit.js';
import { whatIfJourneys } from './journeys/whatif-journeys.js';
import { accessProblems, launchBrowser } from './launch-browser.js';

const browser = await launchBrowser();
const yard = new ConsoleYard();
let context: BrowserContext;
let page: Page;
const problems: string[] = [];
/** The address of a question that has a result. */
let answered = '';

interface PastRequest {
  readonly id: string;
  readonly ttft_ms: number;
}

/** Whatever a page reports as an error is a failure of its journey. */
async function opened(from: BrowserContext): Promise<Page> {
  const one = await from.newPage();
  one.setDefaultTimeout(WAIT_MS);
  one.on('pageerror', ({ message }) => problems.push(message));
  one.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text());
  });
  one.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return one;
}

async function logIn(one: Page, credential: string): Promise<void> {
  await one.goto(yard.adminUrl);
  await one.getByLabel('Admin token, or API key with a role').fill(credential);
  await one.getByRole('button', { name: 'Log in' }).click();
}

const visit: Visit = {
  yard,
  page: () => page,
  async logIn(credential) {
    const own = await browser!.newContext({ viewport: { width: 1440, height: 900 } });
    const fresh = await opened(own);
    await logIn(fresh, credential);
    return { page: fresh, context: own };
  },
};

/** The page in view, in both themes and at three widths. */
async function accessibleEverywhere(): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessProblems(page), colorScheme).toEqual([]);
  }
  for (const width of [768, 360]) {
    await page.setViewportSize({ width, height: 800 });
    // Colours do not change with the width.
    expect(await accessProblems(page, ['color-contrast']), `${width} px`).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${width} px`).toBe(width);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

const CHAT = '/endpoints/default/chat';

describe.skipIf(browser === null)('the console in a browser', () => {
  beforeAll(async () => {
    yard.record('chat');
    await yard.start();
    await yard.declare('chat', 2);
    await yard.untilReady('chat', 2);
    context = await browser!.newContext({ viewport: { width: 1440, height: 900 } });
    page = await opened(context);
  });
  afterAll(async () => {
    await browser?.close();
    await yard.close();
  });

  test('a visitor logs in with the admin token, and not with a wrong one', async () => {
    await logIn(page, 'wrong');
    await page.getByRole('alert').filter({ hasText: 'missing or wrong' }).waitFor();
    expect(await accessProblems(page)).toEqual([]);
    await logIn(page, yard.token);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate('document.cookie')).toBe('');
    // By the keyboard: the first stop leads past the pages to the content.
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id'), { timeout: WAIT_MS }).toBe('content');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
  });

  test('the fleet is seen and moves under load, unless the visitor stops it, and its numbers can be copied', async () => {
    await page.getByRole('region', { name: 'Endpoints' }).getByRole('link', { name: 'default/chat' }).waitFor();
    await page.getByText('2 / 2').first().waitFor();
    const requests = page.locator('.stat', { hasText: 'Requests' }).locator('dd').first();
    expect(await requests.textContent()).toBe('0 /s');
    // A page that is stopped stays as it is; times are in UTC unless the visitor chooses otherwise.
    await page.getByRole('button', { name: 'UTC', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByRole('button', { name: 'Paused', exact: true }).waitFor();
    await Promise.all(Array.from({ length: 12 }, (_, i) => yard.chat(`load-${i}`)));
    const rate = async () => (await yard.call('GET', 'traffic')).total.requests_per_s;
    await expect.poll(rate, { timeout: WAIT_MS }).toBeGreaterThan(0);
    expect(await requests.textContent()).toBe('0 /s');
    await page.getByRole('button', { name: 'Paused', exact: true }).click();
    await expect.poll(() => requests.textContent(), { timeout: WAIT_MS }).not.toBe('0 /s');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await requests.getByRole('button').click();
    const copied = async () => Number(await page.evaluate('navigator.clipboard.readText()'));
    await expect.poll(copied, { timeout: WAIT_MS }).toBeGreaterThan(0);
  });

  test('a slow request is found and explained', async () => {
    await page.getByRole('link', { name: 'Requests' }).first().click();
    await page.getByLabel('Request id begins with').fill('load-7');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 request', exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?id=load-7');
    const loaded = async () => (await yard.call('GET', 'requests?id=load-&limit=100')).items;
    await expect.poll(async () => (await loaded()).length, { timeout: WAIT_MS }).toBe(12);
    const slowest = (await loaded()).reduce((a: PastRequest, b: PastRequest) => (a.ttft_ms < b.ttft_ms ? b : a));
    await page.goto(`${yard.adminUrl}/requests?min_ttft_ms=${Math.floor(slowest.ttft_ms)}`);
    const copied = async (name: string) => {
      await page.getByRole('button', { name: `Copy ${name}` }).click();
      await page.getByText('Copied', { exact: true }).waitFor();
      return page.evaluate('navigator.clipboard.readText()');
    };
    expect(await copied('Requests')).toContain(`\t${slowest.ttft_ms}\t`);
    await page.getByRole('link', { name: slowest.id }).click();
    await page.getByText('from the first to the last token').waitFor();
    await page.getByText(/ chose /).waitFor();
    expect(await page.locator('table tbody tr').count()).toBe(2);
    const { replicas } = await yard.call('GET', `decisions/${slowest.id}`);
    expect(await copied('Candidates')).toContain(`\t${replicas[0].ageUs / 1000}\t`);
  });

  test('names that look like markup are text', async () => {
    const name = '<img src=x onerror=alert(1)>';
    await yard.declare('odd', 0, name);
    await page.goto(`${yard.adminUrl}/endpoints/default/odd?tab=yaml`);
    await page.getByText(name).first().waitFor();
    await expect.poll(() => page.locator('textarea').inputValue(), { timeout: WAIT_MS }).toContain(name);
    expect(await page.locator('main img').count()).toBe(0);
    await yard.call('DELETE', 'workspaces/default/endpoints/odd');
  });

  test('a policy is swapped after a preview', async () => {
    await page.goto(`${yard.adminUrl}${CHAT}?tab=policy`);
    await page.getByLabel('Routing policy').selectOption('unified');
    expect(await page.getByRole('button', { name: 'Preview the swap' }).isDisabled()).toBe(true);
    await page.getByLabel('Routing policy').selectOption('lmetric');
    await page.getByRole('group', { name: 'Options of lmetric' }).getByLabel('tie_break').selectOption('first');
    await page.getByRole('button', { name: 'Preview the swap' }).click();
    await page.locator('.diff-after', { hasText: 'lmetric' }).waitFor();
    expect(await accessProblems(page)).toEqual([]);
    // What is previewed is made of what was looked at, and of nothing else.
    await page.getByRole('dialog').getByText('As a command').click();
    await page.getByText(/^curl -X PATCH .*if-match/).waitFor();
    await yard.call('PATCH', 'workspaces/default/endpoints/chat', { spec: { deployment: { max_surge: 2 } } });
    await page.getByRole('button', { name: 'Swap', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'has been changed since version' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Preview the swap' }).click();
    await page.getByRole('button', { name: 'Swap', exact: true }).click();
    await page.locator('.facts strong', { hasText: 'lmetric' }).waitFor();
    const { spec } = await yard.call('GET', 'workspaces/default/endpoints/chat');
    expect(spec.routing).toMatchObject({ policy: 'lmetric', options: { tie_break: 'first' } });
    await page.getByRole('link', { name: 'Undo the revision' }).waitFor();
  });

  test('a lab is run, its CDF is read, and one of its policies is about to be served', async () => {
    await page.getByRole('link', { name: 'Lab' }).click();
    await page.getByText('No run yet').waitFor();
    await page.getByLabel('Requests', { exact: true }).fill('200');
    await page.getByLabel('Seeds: runs of each policy').fill('2');
    await page.getByText('Options of lmetric').click();
    await page.getByLabel('batch_offset').fill('1');
    await page.locator('code', { hasText: /^lmetric:batch_offset=1$/ }).waitFor();
    await page.getByText('As a command').click();
    await page.getByText(`curl -X POST ${yard.adminUrl}/api/v1/workspaces/default/lab/experiments `).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const verdict = page.locator('.verdict');
    await verdict.waitFor();
    const found = await verdict.textContent();
    const [, id] = /job=([\w-]+)/.exec(page.url())!;
    const { commands, result, state } = await yard.call('GET', `jobs/${id}`);
    expect([state, found]).toEqual(['done', result.verdict]);
    expect(commands[0]).toMatch(/^twinyard compare --workload rag --rate 30 --num-requests 200 /);
    expect(commands[0]).toContain(' round-robin,least-loaded,lmetric:batch_offset=1 ');
    const cdf = page.getByRole('figure', { name: /^Time to first token/ });
    await cdf.locator('canvas').waitFor();
    await cdf.getByText('As a table').click();
    expect(await cdf.getByRole('row').count()).toBe(4);
    await page.locator('canvas[aria-label^="Load of 4 replicas with lmetric"]').waitFor();
    await page.getByRole('radio', { name: 'ITL' }).check();
    await page.getByRole('figure', { name: /^Between tokens/ }).waitFor();
    await accessibleEverywhere();
    const link = page.url();
    expect(link).toContain('chart=itl');
    await page.goto(yard.adminUrl);
    await page.goto(link);
    await page.getByRole('figure', { name: /^Between tokens/ }).waitFor();
    expect(await verdict.textContent()).toBe(found);
    // A link to a result has its experiment, whatever the form says by now.
    const other = page.getByRole('status').filter({ hasText: 'another experiment than the form shows' });
    await page.getByLabel('Requests', { exact: true }).fill('201');
    await other.getByText('round-robin, least-loaded, lmetric:batch_offset=1 on rag').waitFor();
    expect(await accessProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy link' }).click();
    const copied = new URL(await page.evaluate<string>('navigator.clipboard.readText()'));
    expect([copied.searchParams.get('requests'), copied.searchParams.get('job')]).toEqual(['200', id]);
    await other.getByRole('link', { name: 'Restore its experiment' }).click();
    await other.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Requests', { exact: true }).inputValue()).toBe('200');
    await page.getByRole('button', { name: 'Serve this policy' }).click();
    const offered = page.getByRole('dialog').getByRole('combobox', { name: 'Policy' });
    await offered.selectOption('lmetric batch_offset=1');
    await page.getByRole('button', { name: 'Preview the change' }).click();
    const preview = page.getByRole('dialog', { name: 'Swap to lmetric' });
    await preview.getByText('batch_offset').first().waitFor();
    await preview.getByText('Not changed by this: 4 × qwen/qwen3-14b').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('before <b>the</b> sale');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'before <b>the</b> sale saved by admin' }).waitFor();
    expect([page.url().includes('job='), await verdict.textContent()]).toEqual([false, found]);
    expect(await yard.call('DELETE', `jobs/${id}`)).toMatchObject({ state: 'done' });
    await page.getByRole('button', { name: 'Delete before <b>the</b> sale' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Saved results' }).waitFor({ state: 'detached' });
  });

  test('a lab at several rates on unlike replicas has a curve, and its numbers at each rate', async () => {
    const asked = 'rate=20,40&requests=30&seeds=1&slo=500&policies=lmetric&kinds=1*H100,1*L40S:2';
    await page.goto(`${yard.adminUrl}/lab?${asked}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const curve = page.getByRole('figure', { name: /^goodput of each policy/ });
    await curve.locator('canvas').waitFor();
    const [, id] = /job=([\w-]+)/.exec(page.url())!;
    const { commands, result } = await yard.call('GET', `jobs/${id}`);
    expect(commands[0]).toContain(" --fleet '1*H100,1*L40S:2' ");
    await curve.getByText('As a table').click();
    const shown = await curve.getByRole('row').nth(1).getByRole('cell').allTextContents();
    const variants: { metrics: { goodput_rps: { mean: number } } }[] = result.document.variants;
    expect(shown).toEqual(variants.map(({ metrics }) => `${metrics.goodput_rps.mean.toPrecision(3)} requests/s`));
    await page.getByRole('radio', { name: '20 requests/s' }).check();
    await page.getByRole('heading', { name: 'Measures at 20 requests/s' }).waitFor();
    expect(await accessProblems(page)).toEqual([]);
  });

  test('an upload of the lab that cannot be read names its line', async () => {
    await page.goto(`${yard.adminUrl}/lab?source=upload&seeds=1`);
    const content = '{"timestamp": 1, "input_length": 5, "output_length": 2, "hash_ids": [1]}\n{"timestamp": 2}\n';
    const file = { name: 'my trace.jsonl', mimeType: 'text/plain', buffer: Buffer.from(content) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('my-trace.jsonl (').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.failure', { hasText: 'my-trace.jsonl:2' }).waitFor();
  });

  endpointJourneys(visit);

  keyJourneys(visit);
  resourceJourneys(visit);
  requestJourneys(visit);
  sessionJourneys(visit);

  test('a shadow is added, followed, and explains what it would have done', async () => {
    await page.goto(`${yard.adminUrl}${CHAT}?tab=shadows`);
    await page.getByLabel('Policy of the shadow').selectOption('least-loaded');
    await page.getByLabel('Its options').fill('tie_break=first');
    await page.getByRole('button', { name: 'Add the shadow' }).click();
    const card = page.locator('.card', { hasText: 'least-loaded · tie_break=first' });
    await card.getByRole('heading', { name: 'On its own placements' }).waitFor();
    const shadowed = await yard.shadowedChat('chat');
    await card
      .getByText(/^standard: \d+ same/)
      .first()
      .waitFor();
    await page.goto(`${yard.adminUrl}/requests/${shadowed}`);
    await page.getByRole('heading', { name: 'What the shadows would have done' }).waitFor();
    await page.getByRole('rowheader', { name: 'least-loaded' }).waitFor();
    await page.goto(`${yard.adminUrl}${CHAT}?tab=shadows`);
    await page.getByRole('button', { name: 'Remove the shadow least-loaded' }).click();
    await page.getByText('No shadow yet').waitFor();
  });

  whatIfJourneys(visit, (search) => {
    answered = search;
  });

  test('the guided tour has five steps, is left with Escape, and stays closed', async () => {
    const { path: link } = await yard.call('POST', 'session/links');
    const own = await browser!.newContext();
    const visitor = await opened(own);
    await visitor.goto(`${yard.adminUrl}${link}&tour`);
    const tour = visitor.getByRole('dialog');
    await tour.getByText('Step 1 of 5').waitFor();
    expect(await accessProblems(visitor)).toEqual([]);
    // Endpoints of the configuration file are listed first.
    const first = '/endpoints/default/fixed';
    for (const path of [first, '/requests/', `${first}?tab=shadows`, '/whatif']) {
      await tour.getByRole('button', { name: 'Next' }).click();
      await visitor.waitForURL((url) => `${url.pathname}${url.search}`.startsWith(path));
    }
    await tour.getByText('Step 5 of 5').waitFor();
    const focused = () => visitor.evaluate('document.activeElement.id');
    await expect.poll(focused, { timeout: WAIT_MS }).toBe('tour-title');
    await visitor.keyboard.press('Escape');
    await tour.waitFor({ state: 'detached' });
    await visitor.reload();
    await visitor.getByRole('heading', { name: 'What-if and plan' }).waitFor();
    expect(await tour.count()).toBe(0);
    await visitor.getByRole('button', { name: 'Logged in as admin' }).click();
    await visitor.getByRole('menuitem', { name: 'Guided tour' }).click();
    await tour.getByText('Step 1 of 5').waitFor();
    await own.close();
    const second = await browser!.newContext();
    const late = await opened(second);
    await late.goto(yard.adminUrl + link);
    await late.getByRole('alert').filter({ hasText: 'used before' }).waitFor();
    await second.close();
  });

  test('an endpoint is scaled, and one of its replicas is drained and replaced', async () => {
    await page.goto(yard.adminUrl + CHAT);
    await page.getByRole('heading', { name: '2 replicas' }).waitFor();
    // All digits of a number are copied, not the rounded one.
    await page.evaluate("navigator.clipboard.writeText('')");
    const used = page.locator('.stat', { hasText: 'KV cache used' }).getByRole('button');
    await expect.poll(() => used.textContent(), { timeout: WAIT_MS }).toContain('%');
    await used.click();
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied, { timeout: WAIT_MS }).toMatch(/^[\d.e-]+$/);
    await page.getByRole('button', { name: 'Scale', exact: true }).click();
    await page.getByLabel('Replicas; 0 pauses the endpoint').fill('3');
    await page.getByRole('dialog').getByRole('button', { name: 'Scale', exact: true }).click();
    await page.getByRole('heading', { name: '3 replicas' }).waitFor();
    await yard.untilReady('chat', 3);
    const [{ id }] = (await yard.call('GET', 'workspaces/default/endpoints/chat/replicas')).items;
    await page.getByRole('button', { name: `Drain ${id}` }).click();
    await page.getByText('Another replica starts in its place.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain', exact: true }).click();
    await page.locator('tr', { hasText: id }).waitFor({ state: 'detached' });
  });

  test('a replica that is killed is seen', async () => {
    await yard.untilReady('chat', 3);
    const { items } = await yard.call('GET', 'workspaces/default/endpoints/chat/replicas');
    await page.goto(yard.adminUrl + CHAT);
    const row = page.getByRole('row').filter({ hasText: items[0].id });
    await row.filter({ has: page.locator('.badge-good') }).waitFor();
    await yard.killReplica(items[0].id);
    // It is down, and gone when another one has taken its place.
    await row.filter({ has: page.locator('.badge-good') }).waitFor({ state: 'detached' });
    await page.goto(`${yard.adminUrl}${CHAT}?tab=events`);
    await page.locator('tr', { hasText: items[0].id }).locator('.badge-warn').first().waitFor();
  });

  test('a viewer is refused, reads everything, and is offered no change', async () => {
    const { context: own, page: viewer } = await visit.logIn(await yard.issue('watching', { role: 'viewer' }));
    await viewer.getByRole('heading', { name: 'Overview' }).waitFor();
    // A page that takes its visitor for an operator, as one does whose role was taken away meanwhile.
    const session = '**/api/v1/session';
    await viewer.route(session, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), role: 'operator' } });
    });
    await viewer.goto(yard.adminUrl + CHAT);
    await viewer.getByRole('button', { name: 'Scale', exact: true }).click();
    await viewer.getByLabel('Replicas; 0 pauses the endpoint').fill('9');
    const dialog = viewer.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Scale', exact: true }).click();
    await dialog.getByRole('alert').filter({ hasText: 'requires the role operator' }).waitFor();
    expect((await yard.call('GET', 'workspaces/default/endpoints/chat')).spec.replicas).not.toBe(9);
    await viewer.unroute(session);
    await viewer.goto(yard.adminUrl + CHAT);
    await viewer.getByRole('heading', { name: /replicas$/ }).waitFor();
    expect(await viewer.getByRole('button', { name: 'Scale', exact: true }).count()).toBe(0);
    await viewer.goto(`${yard.adminUrl}/lab`);
    await viewer.getByText('it needs the role operator in default').waitFor();
    expect(await viewer.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0);
    await viewer.getByRole('link', { name: /^round-robin, least-loaded, lmetric:batch_offset=1 on rag/ }).click();
    await viewer.locator('.verdict').waitFor();
    expect(await viewer.getByRole('button', { name: 'Serve this policy' }).count()).toBe(0);
    await viewer.goto(`${yard.adminUrl}${CHAT}?tab=logs`);
    await viewer.getByText('logs need the role operator').waitFor();
    await viewer.goto(`${yard.adminUrl}/whatif${answered}`);
    await viewer.locator('.verdict').waitFor();
    await viewer.getByText('needs the role operator in default').waitFor();
    expect(await viewer.getByRole('button', { name: /^(Ask|Serve this policy)$/ }).count()).toBe(0);
    await viewer.goto(`${yard.adminUrl}${CHAT}?tab=shadows`);
    await viewer.getByText('No shadow yet').waitFor();
    expect(await viewer.getByRole('button', { name: 'Add the shadow' }).count()).toBe(0);
    await own.close();
  });

  const PAGES = [
    ['/', 'Overview'],
    ['/changes?of=audit', 'Audit log'],
    [CHAT, 'chat'],
    [`${CHAT}?tab=rollout`, 'Revisions'],
    [`${CHAT}?tab=policy`, 'In force'],
    [`${CHAT}?tab=shadows`, 'Add a shadow'],
    [`${CHAT}?tab=events`, 'Events, the latest first'],
    [`${CHAT}?tab=logs`, 'lines'],
    [`${CHAT}?tab=yaml`, 'Desired state'],
    ['/requests', 'Requests'],
    ['/requests/load-7', 'Why this replica'],
    ['/lab', 'Experiment'],
    ['/whatif?ask=plan', 'What-if and plan'],
    ['/playground?models=tiny', 'Playground'],
    ['/keys', 'API keys'],
    ['/keys?tab=usage', 'By day'],
    ['/keys/alice', 'Limits and what is used of them'],
    ['/resources', 'Cluster'],
    ['/resources/clusters/local', 'Status'],
    ['/resources/clusters/local?tab=edit', 'Desired state'],
    ['/resources/new/externalendpoints', 'New ExternalEndpoint'],
    ['/settings', 'Telemetry'],
  ] as const;

  test.each(PAGES)(
    '%s is accessible in both themes, fits from 360 px, and shows the commands behind it',
    async (path, heading) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(yard.adminUrl + path);
      await page.getByRole('heading', { name: heading }).first().waitFor();
      await page.locator('.as-command').first().waitFor({ state: 'attached' });
      const commands = await commandsOn(page);
      expect(commands.length).toBeGreaterThan(0);
      const refusals = commands.filter((one) => one.startsWith('twinyard ')).map(refusalOf);
      expect((await Promise.all(refusals)).filter((one) => one !== null)).toEqual([]);
      await accessibleEverywhere();
    },
  );

  lostGatewayJourney(visit);

  test('no page has reported an error', () => {
    expect(problems).toEqual([]);
  });
});
