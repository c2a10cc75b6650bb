import { expect, test } from 'vitest';
import { accessProblems } from '../launch-browser.js';
import { readCommand } from './command-check.js';
import { type PastedLanguage, printedBy } from './pasted-code.js';
import { type Visit, WAIT_MS } from './visit.js';

/** Keys: make, limit, use, and what their holders see. */
export function keyJourneys({ logIn, page, yard }: Visit): void {
  let secret = '';

  test('a key is made with limits, and used in the playground, which counts the tokens of the engine', async () => {
    await page().goto(`${yard.adminUrl}/keys`);
    await page().getByRole('button', { name: 'New key' }).click();
    await page().getByLabel('Name', { exact: true }).fill('alice');
    await page().getByLabel('Tokens per day, UTC').fill('100000');
    // Only the second step fails: only that is tried again.
    const error = { code: 'STORE_FAILED', message: 'the store is away', hint: 'try again' };
    await page().route('**/alice/issue', (route) => route.fulfill({ status: 503, json: { error } }), { times: 1 });
    await page().getByRole('button', { name: 'Create' }).click();
    await page().getByRole('alert').filter({ hasText: 'the store is away' }).waitFor();
    await page().getByRole('button', { name: 'Issue the secret' }).click();
    secret = (await page().getByRole('status').locator('code').textContent())!;
    expect(await accessProblems(page())).toEqual([]);
    // What is shown once is not lost by a slip.
    await page().keyboard.press('Escape');
    await page().mouse.click(5, 400);
    await page().getByRole('button', { name: 'Done' }).click();
    await page().getByRole('cell', { name: 'alice', exact: true }).waitFor();
    await page().goto(`${yard.adminUrl}/playground?models=tiny&max_tokens=8`);
    await page().getByLabel('API key, if not your own log-in').fill(secret);
    await page().getByLabel('Message', { exact: true }).fill("What's this?");
    await page().keyboard.press('Enter');
    const said = page().locator('.said-assistant');
    await expect.poll(() => said.textContent(), { timeout: WAIT_MS }).toMatch(/ tokens|status|reached/);
    expect(await said.textContent()).toMatch(/\S.*first token [\d.]+ m?s · 8 tokens/);
  });

  test('the code of the playground works when it is pasted, in every language', async () => {
    await page().getByLabel('System prompt').fill("it's short");
    await page().getByLabel('Temperature').fill('0.5');
    await page().getByLabel('Stop at, separated by |').fill('never "said"|\\');
    const place = page().locator('.card', { hasText: 'The same by code' });
    const code = async (language: PastedLanguage) => {
      await place.getByRole('button', { name: language, exact: true }).click();
      const text = (await place.locator('code').first().textContent())!;
      expect(text).toContain('0.5');
      return text;
    };
    const [curl, script, python] = [await code('curl'), await code('TypeScript'), await code('Python')];
    const [byCurl, byScript, byPython] = await Promise.all([
      printedBy('curl', curl, yard.folder, secret),
      printedBy('TypeScript', script, yard.folder, secret),
      printedBy('Python', python, yard.folder, secret),
    ]);
    expect(JSON.parse(byCurl!)).toMatchObject({ usage: { completion_tokens: 8 }, choices: [{ message: {} }] });
    expect(byScript).toMatch(/\S/);
    expect(byPython ?? 'skipped').toMatch(/\S/);
  });

  test('the system prompt and parameters reach the request, models stand side by side, and errors and a stop are shown', async () => {
    await page().goto(`${yard.adminUrl}/playground?models=tiny,absent&max_tokens=8`);
    await page().getByLabel('System prompt').fill('be brief');
    await page().getByLabel('Seed').fill('7');
    await page().getByLabel('API key, if not your own log-in').fill(secret);
    const sent = page().waitForRequest(
      (one) => one.url().endsWith('/playground/chat') && one.postDataJSON().model === 'tiny',
    );
    await page().getByLabel('Message', { exact: true }).fill('hello');
    await page().keyboard.press('Enter');
    expect((await sent).postDataJSON()).toMatchObject({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hello' },
      ],
      max_tokens: 8,
      seed: 7,
    });
    const [served, absent] = ['tiny', 'absent'].map((name) =>
      page().getByRole('region', { name: `Chat with ${name}` }),
    );
    await absent!.getByRole('alert').filter({ hasText: "'absent'" }).waitFor();
    await served!.getByText(/ · 8 tokens/).waitFor();
    // A response that does not begin, until the visitor stops it.
    await page().route('**/playground/chat', () => {});
    await page().getByLabel('Message', { exact: true }).fill('and now?');
    await page().keyboard.press('Enter');
    await served!.getByRole('button', { name: 'Stop' }).click();
    await served!.getByText('stopped').waitFor();
    expect(await served!.getByRole('button', { name: 'Stop' }).count()).toBe(0);
    await page().unroute('**/playground/chat');
    await absent!.getByRole('button', { name: 'Remove absent' }).click();
    await served!.getByText('hello', { exact: true }).waitFor();
    expect(new URL(page().url()).searchParams.get('models')).toBe('tiny');
  });

  test('a response that breaks off keeps what was said, with the reason, and is not sent again', async () => {
    const said = page().locator('.said-assistant').last();
    const send = async (text: string) => {
      await page().getByLabel('Message', { exact: true }).fill(text);
      await page().keyboard.press('Enter');
    };
    await yard.setFaults('chat', { disconnect_rate: 1 });
    await send('break off');
    await said.getByRole('alert').waitFor();
    const reason = (await said.getByRole('alert').textContent())!;
    expect(reason).toMatch(/\S/);
    expect((await said.textContent())!.split(reason)[0]).toMatch(/\S/);
    await yard.setFaults('chat', { disconnect_rate: 0 });
    const sent = page().waitForRequest((one) => one.url().endsWith('/playground/chat'));
    await send('and again');
    const { messages } = (await sent).postDataJSON();
    expect(messages.map(({ content }: { content: string }) => content)).not.toContain('break off');
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'and again' });
    await said.getByText(/ · 8 tokens/).waitFor();
    await page()
      .getByRole('status')
      .filter({ hasText: /^tiny: / })
      .waitFor({ state: 'attached' });
  });

  test('the limits of a key are changed by its form', async () => {
    await page().goto(`${yard.adminUrl}/keys/alice`);
    const limits = page().getByRole('group', { name: 'limits' });
    await limits.getByLabel('concurrent').fill('4');
    await page().getByRole('button', { name: 'Preview the change' }).click();
    await page().getByRole('dialog').getByText('concurrent').waitFor();
    await page().getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page().getByRole('dialog').waitFor({ state: 'hidden' });
    const { spec } = await yard.call('GET', 'workspaces/default/apikeys/alice');
    expect(spec.limits).toEqual({ '*': { tokens_per_day: 100_000, concurrent: 4 } });
  });

  test('commands of keys and usage are those of the page', async () => {
    await page().getByRole('button', { name: 'Rotate alice' }).click();
    await page().getByLabel('The present secret is still accepted for').selectOption('0');
    expect(await readCommand(page(), 'twinyard keys rotate')).toEqual({ operands: ['alice'], grace: 0 });
    await page().getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    const { metadata } = await yard.call('GET', 'workspaces/default/apikeys/alice');
    await page().getByRole('link', { name: 'Usage', exact: true }).click();
    await page().getByText('What was used with the keys and endpoints of workspace default').waitFor();
    expect(await readCommand(page(), 'twinyard keys usage')).toMatchObject({
      ...{ workspace: 'default', key: metadata.uid, by: ['day'] },
      ...{ from: expect.any(String), to: expect.any(String) },
    });
    await page().goto(`${yard.adminUrl}/keys/alice`);
    await page().getByRole('main').getByRole('link', { name: 'Requests' }).click();
    expect(new URL(page().url()).searchParams.get('key')).toBe(metadata.uid);
  });

  test('an admin of one workspace sees its keys and its changes, and creates keys there', async () => {
    await yard.create('workspaces', 'Workspace', { name: 'team-a' }, {});
    const lead = await yard.issue('lead', {}, 'team-a');
    await yard.create('roles', 'Role', { name: 'leads', workspace: 'team-a' }, { role: 'admin', api_keys: ['lead'] });
    const own = await logIn(lead);
    await own.page.getByRole('row', { name: /Role team-a\/leads create/ }).waitFor();
    await own.page.getByRole('link', { name: 'Keys and usage' }).click();
    await own.page.getByRole('row', { name: /^lead team-a/ }).waitFor();
    expect(await own.page.getByRole('row').count()).toBe(2);
    await own.page.getByRole('button', { name: 'New key' }).click();
    await own.page.getByRole('dialog', { name: 'New API key in team-a' }).waitFor();
    await own.page.keyboard.press('Escape');
    await own.page.goto(`${yard.adminUrl}/changes?of=audit`);
    await own.page.getByRole('row', { name: /Role team-a\/leads create/ }).waitFor();
    expect(await own.page.getByText('default/').count()).toBe(0);
    await own.context.close();
  });

  test('the holder of a key without a role sees its own usage, and nothing else', async () => {
    const own = await logIn(secret);
    await own.page.getByText('What was used with your key default/alice').waitFor();
    const requests = own.page.locator('.stat', { hasText: 'Requests' }).locator('dd').first();
    await expect.poll(() => requests.textContent(), { timeout: WAIT_MS }).toMatch(/^[1-9]/);
    expect(await own.page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
      'Playground',
      'Keys and usage',
    ]);
    expect(await accessProblems(own.page)).toEqual([]);
    await own.page.getByRole('link', { name: 'Playground' }).click();
    await own.page.getByLabel('Most tokens').fill('4');
    await own.page.getByLabel('Message', { exact: true }).fill('hello');
    await own.page.keyboard.press('Enter');
    await own.page.getByText(/ · 4 tokens/).waitFor();
    // Without a stream, calls tell that the gateway is lost, and that it is back.
    await own.page.route('**/api/v1/**', (route) => route.abort());
    await own.page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await own.page.getByRole('button', { name: 'Lost' }).waitFor();
    await own.page.unroute('**/api/v1/**');
    await own.page.getByRole('button', { name: 'Live' }).waitFor();
    await own.context.close();
  });
}
