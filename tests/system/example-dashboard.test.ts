import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkTypes, installTarball, linkInstalledPackages, packClient } from '../../scripts/pack-client.ts';
import { MINUTE_MS } from '../../src/core/clock.ts';
import { codeOf } from '../support/authenticator-app.ts';
import { type Chromium, findChromium, startChromium } from '../support/chromium.ts';
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts';
import {
  APPROVAL_KOPEKS,
  CUSTOMER,
  type DashboardSetup,
  HELPER,
  OWNER,
  PASSWORD,
  setUpDashboard,
} from '../support/dashboard-setup.ts';
import { run, servePage, startService, stopService } from '../support/page-and-service.ts';
import { shoot } from '../support/watched-page.ts';

/** The example dashboard with the packed client in a real browser, against the built service with its sandbox. */

const root = join(import.meta.dirname, '..', '..');
const INSTALLED_PACKAGES = [
  ...['react', 'react-dom', 'scheduler', 'csstype', 'vite', '@types/react', '@types/react-dom'],
  ...['recharts', 'cytoscape'],
];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const VIEWS = ['overview', 'sales', 'users', 'network', 'health', 'runs', 'approvals', 'api-tokens'];
const FRESH_MINUTES = 60;

const executable = findChromium();
const NO_BROWSER = 'there is no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)';

let folder: string;
let project: string;
let site: Awaited<ReturnType<typeof servePage>>;
let service: Awaited<ReturnType<typeof startService>>;
let setup: DashboardSetup;
/** Between the page and the service, to interrupt the network. */
let proxy: CuttingProxy;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'example-dashboard-'));
  const { tarball } = await packClient(join(folder, 'tarball'));
  project = join(folder, 'dashboard');
  const isSource = (path: string) => !/[\\/](?:node_modules|dist)$/.test(path);
  await cp(join(root, 'examples', 'dashboard'), project, { recursive: true, filter: isSource });
  await installTarball(tarball, project);
  await linkInstalledPackages(project, INSTALLED_PACKAGES);
  site = await servePage(join(project, 'dist'));
  service = await startService(folder, site.url, {
    ADMIN_EMAILS: OWNER,
    APPROVAL_BALANCE_CHANGE_KOPEKS: String(APPROVAL_KOPEKS),
    SECOND_FACTOR_FOR: 'staff',
    FRESH_SIGN_IN_MINUTES: String(FRESH_MINUTES),
    BACKUP_LOCATION: join(folder, 'backups'),
  });
  proxy = await startCuttingProxy(service.url);
  setup = await setUpDashboard(service.url, join(folder, 'data'));
});

afterAll(async () => {
  await proxy?.close();
  if (service) await stopService(service.child);
  site?.server.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

it('type-checks with the packed client alone', () => {
  expect(checkTypes(project)).toBeGreaterThan(0);
});

// One visit: each part goes on where the last one ended.
describe.skipIf(executable === null)(
  `the example dashboard${executable === null ? ` (${NO_BROWSER})` : ''}`,
  { shuffle: false },
  () => {
    let browser: Chromium;
    let page: Page;
    /** Errors of the page, its console and its requests. */
    const problems: string[] = [];

    beforeAll(async () => {
      const apiUrl = proxy.url.replace(/\/$/, '');
      await writeFile(join(project, '.env.production.local'), `VITE_API_URL=${apiUrl}\n`);
      run([join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'error'], project);
      browser = await startChromium(executable!);
      page = browser.context.pages()[0] ?? (await browser.context.newPage());
      page.setDefaultTimeout(60_000);
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      page.on('requestfailed', (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
      page.on('response', (response) => response.status() >= 400 && problems.push(`${response.url()}: ${response.status()}`));
    });

    afterAll(async () => {
      await browser?.close();
    });

    const textOf = (testId: string) => page.getByTestId(testId).textContent();

    async function signIn(email: string): Promise<void> {
      await page.getByLabel('Эл. почта').fill(email);
      await page.getByLabel('Пароль').fill(PASSWORD);
      await page.locator('button[type=submit]').click();
      await page.getByRole('navigation').getByRole('link').first().waitFor();
    }

    /** Opens a view by its link and waits until its panels have loaded. */
    async function open(path: string): Promise<void> {
      await page.locator(`nav a[href="#/${path}"]`).click();
      await loaded();
    }

    async function loaded(): Promise<void> {
      await page.locator('main section.card').first().waitFor();
      await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    }

    it('signs in, and the overview follows a sale', async () => {
      await page.goto(site.url);
      await page.getByLabel('Эл. почта').waitFor();
      await shoot(page, 'dashboard-1-sign-in');
      await signIn(OWNER);
      await loaded();
      await expect.poll(() => textOf('feed-status')).toBe('на связи');
      await expect.poll(() => textOf('income-today')).toMatch(/^0\s₽$/);
      await page.evaluate('globalThis.isSamePage = true');
      await setup.topUp(1_500);
      await expect.poll(() => textOf('income-today')).toMatch(/^1\s500\s₽$/);
      await setup.buy();
      await expect.poll(() => textOf('active-subscriptions')).toBe('1');
      await expect.poll(() => page.getByTestId('feed').getByRole('listitem').count()).toBeGreaterThan(1);
      expect(await textOf('feed')).toMatch(/Пополнение #\d+\s*1\s500\s₽/);
      expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
      await page.getByTestId('income-chart').locator('.recharts-area-curve').waitFor();
      await shoot(page, 'dashboard-2-overview');
      expect(problems).toEqual([]);
    });

    it('has its header in one row', async () => {
      const rows = await page.evaluate(`(() => {
        const boxes = [...document.querySelector('header').children].map((element) => element.getBoundingClientRect());
        return { top: Math.max(...boxes.map(({ top }) => top)), bottom: Math.min(...boxes.map(({ bottom }) => bottom)) };
      })()`);
      const { top, bottom } = rows as { top: number; bottom: number };
      expect(top).toBeLessThan(bottom);
    });

    it('finds a user by a name and by an address, and shows subscription and money', async () => {
      await open('users');
      await page.getByRole('searchbox').fill('Anna');
      await page.getByRole('button', { name: 'Поиск' }).click();
      await expect.poll(() => page.getByTestId('users').getByRole('row').count()).toBe(2);
      await page.getByRole('searchbox').fill(CUSTOMER);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.getByTestId('users').getByRole('link').allTextContents()).toEqual(['vera']);
      await shoot(page, 'dashboard-3-search');
      await page.getByTestId('users').getByRole('link').click();
      await expect.poll(() => textOf('user-subscription')).toContain('активна');
      await expect.poll(() => textOf('movements')).toMatch(/1\s500\s₽/);
      await expect.poll(() => textOf('user')).toContain('Весна');
      await shoot(page, 'dashboard-4-user');
      expect(problems).toEqual([]);
    });

    it('requests the archive of a user’s data', async () => {
      const card = page.getByTestId('personal-data');
      await card.getByRole('button', { name: 'Запросить архив' }).click();
      await card.getByRole('button', { name: 'Адрес архива' }).click();
      await expect.poll(() => card.getByTestId('personal-data-outcome').getByRole('link').count()).toBe(1);
      expect(problems).toEqual([]);
    });

    it('loads what draws the referral network when it is opened, and draws it', async () => {
      const LOADED = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('cytoscape')).length";
      expect(await page.evaluate(LOADED)).toBe(0);
      await open('network');
      // Vera and three below her, and the campaign that brought her.
      await expect.poll(() => page.getByTestId('graph').getAttribute('data-nodes')).toBe('5');
      expect(await page.getByTestId('graph').getAttribute('data-edges')).toBe('4');
      expect(await page.getByTestId('graph').locator('canvas').count()).toBeGreaterThan(0);
      await page.getByRole('row', { name: /^vera/ }).waitFor();
      expect(await page.evaluate(LOADED)).toBe(1);
      await shoot(page, 'dashboard-5-network');
      await open('sales');
      await expect.poll(() => page.getByTestId('sales-chart').locator('.recharts-bar-rectangle path').count()).toBeGreaterThan(0);
      const ticks = page.getByTestId('sales-chart').locator('.recharts-yAxis-tick-labels text');
      const labels = await ticks.allTextContents();
      expect(labels.length).toBeGreaterThan(1);
      expect(labels.filter((label) => !/^\d+$/.test(label))).toEqual([]);
      expect(new Set(labels).size).toBe(labels.length);
      await shoot(page, 'dashboard-6-sales');
      await open('health');
      await expect.poll(() => textOf('panel-state')).toBe('есть');
      // Mostly nothing waits here (tests/api/admin-job-queues.test.ts has what is shown then).
      await expect.poll(() => textOf('job-queues')).toMatch(/Пока пусто|Отставание/);
      await shoot(page, 'dashboard-7-health');
      expect(problems).toEqual([]);
    });

    it('starts a backup and shows its progress until it is complete', async () => {
      await open('runs');
      await page.evaluate(`new MutationObserver(() => {
      globalThis.sawProgress ||= document.querySelector('[data-testid=backup] progress') !== null;
    }).observe(document.body, { childList: true, subtree: true })`);
      await page.getByTestId('backups').getByRole('button').click();
      await page.locator('[data-testid=backup][data-status=completed]').waitFor();
      expect(await page.evaluate('globalThis.sawProgress')).toBe(true);
      await shoot(page, 'dashboard-8-runs');
      expect(problems).toEqual([]);
    });

    it('shows a change that another administrator asked for, and approves it', async () => {
      await open('approvals');
      const balance = async () =>
        ((await setup.call('GET', '/cabinet/balance', setup.customer)) as { balance_kopeks: number }).balance_kopeks;
      const before = await balance();
      const change = { amount_kopeks: APPROVAL_KOPEKS * 2, description: 'Возврат за сбой' };
      await setup.call('POST', `/cabinet/admin/users/${setup.customer.user.id}/balance`, setup.requester, change);
      const waiting = page.getByTestId('approval');
      await waiting.waitFor();
      expect(await waiting.textContent()).toContain('Возврат за сбой');
      await shoot(page, 'dashboard-9-approvals');
      expect(await balance()).toBe(before);
      await waiting.getByRole('button', { name: 'Одобрить' }).click();
      await expect.poll(() => textOf('decided')).toContain('одобрено');
      expect(await balance()).toBe(before + change.amount_kopeks);
      expect(problems).toEqual([]);
    });

    it('continues the feed after an interrupted network, without a gap or a repeat', async () => {
      await open('overview');
      await expect.poll(() => textOf('feed-status')).toBe('на связи');
      proxy.refuse('57P03');
      await expect.poll(() => textOf('feed-status')).toBe('соединяемся');
      await shoot(page, 'dashboard-10-interrupted');
      const missed = await setup.createUser(880_010, 'Missed');
      proxy.refuse(null);
      await expect.poll(() => textOf('feed-status')).toBe('на связи');
      const following = await setup.createUser(880_011, 'Following');
      await expect.poll(() => textOf('feed')).toContain(`#${following}`);
      const links = await page.getByTestId('feed').getByRole('link').allTextContents();
      expect(links.map((text) => text.trim()).filter((text) => text === `#${missed}`)).toEqual([`#${missed}`]);
      // Requests that failed meanwhile are what was tested.
      problems.splice(0);
    });

    it.each(['light', 'dark'] as const)('has no barrier that axe finds in any view, %s', async (theme) => {
      const switchTheme = page.getByRole('button', { name: theme === 'dark' ? 'Тёмная тема' : 'Светлая тема' });
      if ((await switchTheme.count()) > 0) await switchTheme.click();
      expect(await page.evaluate('document.documentElement.style.colorScheme')).toBe(theme);
      if (!(await page.evaluate("'axe' in globalThis"))) await page.addScriptTag({ path: AXE });
      const found: string[] = [];
      for (const path of [...VIEWS, `users/${setup.customer.user.id}`]) {
        await page.evaluate(`location.hash = '#/${path}'`);
        await loaded();
        const violations = (await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
        )) as string[];
        found.push(...violations.map((text) => `${path} ${text}`));
        await shoot(page, `dashboard-view-${path.replace('/', '-')}-${theme}`);
      }
      expect(found).toEqual([]);
      expect(problems).toEqual([]);
    });

    it('fits a telephone, in English', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('button', { name: 'English' }).click();
      for (const path of VIEWS) {
        await open(path);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      }
      await open('overview');
      await shoot(page, 'dashboard-11-telephone');
      await page.getByRole('button', { name: 'Русский' }).click();
      await page.setViewportSize({ width: 1180, height: 860 });
      expect(problems).toEqual([]);
    });

    it('shows an administrator with few permissions only what they include', async () => {
      await page.getByRole('button', { name: 'Выйти' }).click();
      await signIn(HELPER);
      expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Пользователи']);
      await loaded();
      expect(await page.getByTestId('feed-status').count()).toBe(0);
      await page.evaluate("location.hash = '#/overview'");
      await expect.poll(() => textOf('denied')).toBe('Ваша роль этого не разрешает.');
      await open('users');
      await page.getByRole('link', { name: 'vera' }).click();
      await expect.poll(() => textOf('movements')).toMatch(/₽/);
      expect(await page.getByTestId('balance-form').count()).toBe(0);
      expect(await page.getByTestId('personal-data').count()).toBe(0);
      await shoot(page, 'dashboard-12-few-permissions');
      expect(problems).toEqual([]);
    });

    it('asks for the second factor at the sign-in, and again before what needs a fresh one', async () => {
      let aheadMs = 0;
      const now = () => new Date(Date.now() + aheadMs);
      const login = { email: OWNER, password: PASSWORD };
      const session = (await setup.call('POST', '/cabinet/auth/email/login', null, login)) as DashboardSetup['customer'];
      const begun = await setup.call('POST', '/cabinet/auth/second-factor/totp', session, { name: 'Phone' });
      const { secret } = begun as { secret: string };
      // The code of the step before: each counts once, and the sign-in needs this one.
      await setup.call('POST', '/cabinet/auth/second-factor/totp/confirm', session, { code: codeOf(secret, { now }, -1) });
      await page.getByRole('button', { name: 'Выйти' }).click();
      await page.getByLabel('Эл. почта').fill(OWNER);
      await page.getByLabel('Пароль').fill(PASSWORD);
      await page.locator('button[type=submit]').click();
      const code = page.getByLabel('Код', { exact: true });
      await page.getByTestId('second-step').waitFor();
      await shoot(page, 'dashboard-13-second-step');
      await code.fill(codeOf(secret, { now }));
      await page.getByRole('button', { name: 'Подтвердить' }).click();
      await page.getByRole('navigation').getByRole('link').first().waitFor();

      await open('api-tokens');
      const form = page.getByTestId('api-tokens').locator('form');
      await form.getByLabel('Имя').fill('Report');
      await form.getByLabel('Права').selectOption(['stats:read', 'users:read']);
      aheadMs = (FRESH_MINUTES + 1) * MINUTE_MS;
      await setup.skipTime(aheadMs);
      await form.getByRole('button', { name: 'Создать токен' }).click();
      const dialog = page.getByRole('dialog', { name: 'Подтвердите, что это вы' });
      await dialog.waitFor();
      await shoot(page, 'dashboard-14-proof');
      await code.fill(codeOf(secret, { now }));
      await dialog.getByRole('button', { name: 'Подтвердить' }).click();
      const token = (await page.getByTestId('token-text').textContent())!;
      expect(await setup.call('GET', '/users', token)).toMatchObject({ total: expect.any(Number) });
      await shoot(page, 'dashboard-15-api-tokens');
      const row = page.getByRole('row', { name: /^Report/ });
      expect(await row.textContent()).toContain('stats:read, users:read');
      await row.getByRole('button', { name: 'Отозвать' }).click();
      await expect.poll(() => row.textContent()).toContain('отозван');
      await expect(setup.call('GET', '/users', token)).rejects.toThrow('401');
      // Refusals that ask for a proof, and the access token that ended meanwhile.
      expect(problems.filter((problem) => !/\b40[13]\b/.test(problem))).toEqual([]);
    });
  },
);
