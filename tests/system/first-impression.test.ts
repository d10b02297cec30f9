import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chromium, findChromium, startChromium } from '../support/chromium.ts';
import { startService, stopService } from '../support/page-and-service.ts';
import { shoot, violationsOf, watch } from '../support/watched-page.ts';

/** The pages of the service itself, as a browser shows them: `/`, an address without anything, and `/sandbox` with its states. */

const THEMES = ['light', 'dark'] as const;
const DESKTOP = { width: 1180, height: 860 };
const TELEPHONE = { width: 360, height: 740 };

const executable = findChromium();

let folder: string;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Chromium;
let page: Page;
let problems: string[];

beforeAll(async () => {
  if (executable === null) return;
  folder = await mkdtemp(join(tmpdir(), 'first-impression-'));
  service = await startService(folder, 'http://localhost', {});
  browser = await startChromium(executable);
  page = browser.context.pages()[0] ?? (await browser.context.newPage());
  problems = watch(page, (problem) => /^refused: 404 GET \S+nothing$|sandbox\/api\//.test(problem));
});

afterAll(async () => {
  await browser?.close();
  if (service) await stopService(service.child);
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const overflow = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** In both themes, on a desktop and on a telephone: nothing against accessibility, nothing beside the window, nothing that went wrong. */
async function checked(name: string): Promise<void> {
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    for (const size of [TELEPHONE, DESKTOP]) {
      await page.setViewportSize(size);
      expect(await overflow(), `${name}, ${size.width}`).toBe(0);
      expect(await violationsOf(page), `${name}, ${colorScheme}, ${size.width}`).toEqual([]);
      await shoot(page, `service-${name}-${colorScheme}-${size.width}`);
    }
  }
  expect(problems, name).toEqual([]);
}

describe.skipIf(executable === null)('the pages of the service', { shuffle: false }, () => {
  it('say in the language of the browser what this is, and lead to what there is', async () => {
    await page.goto(`${service.url}/`);
    expect(await page.locator('html').getAttribute('lang')).toBe('ru');
    expect(await page.getByRole('main').textContent()).toContain('панель VPN, оплата, мессенджер, почта');
    await checked('home');
    await page.goto(`${service.url}/cabinet/nothing`);
    await page.getByRole('heading', { name: 'Страница не найдена' }).waitFor();
    await checked('not-found');
    await page.getByRole('link').click();
    await page.getByRole('link', { name: 'Песочница' }).click();
    await page.getByRole('heading', { name: 'Sandbox', exact: true }).waitFor();
  });

  it('have an icon that the browser can draw', async () => {
    await page.goto(`${service.url}/`);
    const icon = await page.locator('link[rel=icon]').getAttribute('href');
    // As a picture of its own the icon needs no permission of the page's policy.
    await page.goto(`${service.url}${icon}`);
    expect(await page.evaluate('document.documentElement.localName')).toBe('svg');
  });
});

describe.skipIf(executable === null)('the page of the sandbox', { shuffle: false }, () => {
  const STATE = '**/sandbox/api/state';
  const CHATS = '**/sandbox/api/chats';
  const alert = () => page.getByRole('alert');

  it('says that it loads, until there is an answer', async () => {
    let answer: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      answer = resolve;
    });
    for (const address of [STATE, CHATS]) await page.route(address, (route) => until.then(() => route.continue()));
    await page.goto(`${service.url}/sandbox`);
    expect(await page.getByText('Loading …').count()).toBe(6);
    await checked('sandbox-loading');
    answer();
    await page.getByText('Add a person, then send /start.').waitFor();
    await expect.poll(() => page.getByText('Loading …').count()).toBe(0);
    expect(await page.locator('[aria-busy]').count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    await checked('sandbox-empty');
  });

  it.each([
    ['is away', { abort: true }],
    ['refuses', { abort: false }],
  ])('says that the service %s, and goes on by itself when it is back', async (_name, { abort }) => {
    const failing = (address: string) =>
      page.route(address, (route) =>
        abort ? route.abort() : route.fulfill({ status: 503, contentType: 'application/json', body: '{"detail":"x"}' }),
      );
    await failing('**/sandbox/api/**');
    await page.goto(`${service.url}/sandbox`);
    await alert().getByText('The service does not answer').waitFor();
    await page.getByText('Not loaded yet').first().waitFor();
    await checked(`sandbox-${abort ? 'away' : 'refused'}`);
    await page.unrouteAll({ behavior: 'wait' });
    await alert().waitFor({ state: 'hidden' });
    await page.getByText('Nothing yet').first().waitFor();
  });

  it('is used by keys alone: a person is added and writes, and the focus stays where it was', async () => {
    await page.goto(`${service.url}/sandbox`);
    await page.getByText('Add a person, then send /start.').waitFor();
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Nothing yet. Send /start.').waitFor();
    await page.getByLabel('Message', { exact: true }).focus();
    await page.keyboard.type('/start');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('/start').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('text');
    const later = page.getByRole('button', { name: '+1 h' });
    const before = await page.locator('#now').getAttribute('datetime');
    await later.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#now').getAttribute('datetime')).not.toBe(before);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('+1 h');
    await checked('sandbox');
  });
});
