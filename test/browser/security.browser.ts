import { once } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.js';
import { ConsoleYard } from './console-yard.js';
import { launchBrowser } from './launch-browser.js';

/** Waits for conditions only: as long as a slow machine needs. */
const WAIT_MS = 120_000;
const MARKUP = '<img/src=x/onerror=window.hacked=1><svg/onload=window.hacked=1>';
const IN_ATTRIBUTE = `"'><script>window.hacked=1</script>`;

const browser = await launchBrowser();
const yard = new ConsoleYard();
let context: BrowserContext;
let page: Page;
const problems: string[] = [];

/** What a page runs, asks or reports against its policy is a failure. */
async function opened(): Promise<Page> {
  const one = await context.newPage();
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

/** Opens a page and waits until it shows the text: as text, with nothing of it in force. */
async function shows(path: string, text: string): Promise<void> {
  await page.goto(yard.adminUrl + path);
  await page.getByText(text).first().waitFor();
  await harmless();
}

async function harmless(): Promise<void> {
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(await page.locator('main img, main svg[onload], main script').count()).toBe(0);
  expect(problems).toEqual([]);
}

describe.skipIf(browser === null)('the console shows what others wrote as text', () => {
  beforeAll(async () => {
    await yard.start();
    await yard.declare('chat', 1);
    await yard.untilReady('chat', 1);
    context = await browser!.newContext({ viewport: { width: 1440, height: 900 } });
    page = await opened();
    await page.goto(yard.adminUrl);
    await page.getByLabel('Admin token, or API key with a role').fill(yard.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await yard.close();
  });

  test.each([MARKUP, IN_ATTRIBUTE])('request id %s', async (id) => {
    await yard.chat(id);
    await shows('/requests', id);
    await page.getByRole('link', { name: id }).click();
    await page.getByText(/ chose /).waitFor();
    await harmless();
    expect(await page.locator('.title-id').textContent()).toBe(id);
    // As one word of a shell: a command that is copied runs nothing else.
    const word = `'${id.replaceAll("'", `'\\''`)}'`;
    expect(await page.locator('.as-command code').first().textContent()).toBe(`twinyard explain ${word}`);
  });

  test('log lines', async () => {
    const replicas = join(yard.folder, 'runner', 'local', 'replicas');
    for (const id of readdirSync(replicas)) appendFileSync(join(replicas, id, 'log'), `${MARKUP} ${IN_ATTRIBUTE}\n`);
    await shows('/endpoints/default/chat?tab=logs', MARKUP);
  });

  test('messages of events, and YAML', async () => {
    await yard.declare('odd', 0, MARKUP);
    const store = await openStore(join(yard.folder, 'yard.db'), { create: false, migrate: false });
    const odd = (await store.resources.get({ kind: 'Endpoint', workspace: 'default', name: 'odd' }))!;
    await store.events.add(odd, 'warning', 'Odd', IN_ATTRIBUTE);
    await store.close();
    await shows('/endpoints/default/odd?tab=events', IN_ATTRIBUTE);
    await shows('/', IN_ATTRIBUTE);
    await page.goto(`${yard.adminUrl}/endpoints/default/odd?tab=yaml`);
    await expect.poll(() => page.locator('textarea').inputValue(), { timeout: WAIT_MS }).toContain(MARKUP);
    await harmless();
  });

  test('keys: a name cannot be markup, and a tenant that is does nothing', async () => {
    const create = (name: string, spec: object) =>
      yard.call('POST', 'workspaces/default/apikeys', {
        ...{ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name }, spec },
      });
    expect((await create(MARKUP, {})).error.message).toContain('<img');
    expect((await create('plain', { tenant: MARKUP })).spec.tenant).toBe(MARKUP);
    await page.goto(`${yard.adminUrl}/keys`);
    await page.getByRole('cell', { name: 'plain', exact: true }).waitFor();
    await harmless();
  });

  test('addresses', async () => {
    const path = `/requests?id=${encodeURIComponent(IN_ATTRIBUTE)}&endpoint=${encodeURIComponent(MARKUP)}`;
    await page.goto(yard.adminUrl + path);
    await page.getByText('No request fits').waitFor();
    await harmless();
  });

  test('another origin on this machine can neither frame the console nor send a change with its session', async () => {
    const change = JSON.stringify({
      apiVersion: 'twinyard/v1',
      kind: 'Workspace',
      metadata: { name: 'stolen' },
      spec: {},
    });
    const evil = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe src="${yard.adminUrl}/"></iframe>`);
    }).listen(0, '127.0.0.1');
    await once(evil, 'listening');
    const other = await context.newPage();
    other.setDefaultTimeout(WAIT_MS);
    await other.goto(`http://127.0.0.1:${(evil.address() as { port: number }).port}/`);
    // The cookie is sent: ports do not make another site.
    const send = `fetch(${JSON.stringify(`${yard.adminUrl}/api/v1/workspaces`)}, { method: 'POST', mode: 'no-cors', credentials: 'include', body: ${JSON.stringify(change)} })`;
    await other.evaluate(`${send}.then(() => {}, () => {})`);
    expect(await other.frames()[1]!.locator('#content, form').count()).toBe(0);
    expect(other.frames()[1]!.url()).toMatch(/^chrome-error:/);
    const { items } = await yard.call('GET', 'workspaces');
    expect(items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).not.toContain('stolen');
    evil.closeAllConnections();
    evil.close();
    await other.close();
  });
});
