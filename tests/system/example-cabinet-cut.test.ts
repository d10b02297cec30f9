import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signInitData } from '../../packages/sandbox/src/messenger/messenger-state.ts';
import { type Headers, type Operator, operatorOf, type SessionAnswer } from '../support/cabinet-content.ts';
import { type CabinetVisit, visitOf } from '../support/cabinet-visit.ts';
import { type Chromium, findChromium, startChromium } from '../support/chromium.ts';
import { buildCabinet, installCabinet } from '../support/example-cabinet.ts';
import { servePage, startService, stopService } from '../support/page-and-service.ts';
import { sandboxChat } from '../support/sandbox-chat.ts';
import { shoot, violationsOf, watch } from '../support/watched-page.ts';

/** The example cabinet where the network or the messenger is in between: answers that are lost, and sign-ins that the messenger confirms. */

const CUSTOMER = 'vera@shop.example';
const PASSWORD = 'correct horse 7';
const MONEY_KOPEKS = 1_000_000;

const executable = findChromium();

let folder: string;
let site: Awaited<ReturnType<typeof servePage>>;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Chromium;
let page: Page;
let problems: string[];
let visit: CabinetVisit;
let operator: Operator;

beforeAll(async () => {
  if (executable === null) return;
  folder = await mkdtemp(join(tmpdir(), 'example-cabinet-cut-'));
  const { project } = await installCabinet(folder);
  site = await servePage(join(project, 'dist'));
  service = await startService(folder, site.url, {});
  await buildCabinet(project, service.url);
  operator = await operatorOf(service.url, join(folder, 'data'));
  await aSubscriber(await operator.signUp(CUSTOMER, PASSWORD));
  browser = await startChromium(executable);
  page = browser.context.pages()[0] ?? (await browser.context.newPage());
  await page.emulateMedia({ reducedMotion: 'reduce' });
  problems = watch(page);
  visit = visitOf(page, problems);
  await page.goto(site.url);
  await page.getByLabel('Эл. почта').fill(CUSTOMER);
  await page.getByLabel('Пароль').fill(PASSWORD);
  await page.locator('button[type=submit]').click();
  await page.getByTestId('balance').waitFor();
});

afterAll(async () => {
  await browser?.close();
  if (service) await stopService(service.child);
  site?.server.close();
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A customer with a subscription, and the money to extend it. */
async function aSubscriber(asCustomer: Headers): Promise<void> {
  const { id } = await operator.call<{ id: number }>('GET', '/cabinet/auth/me', asCustomer);
  await operator.call('POST', `/users/${id}/balance`, operator.asToken, { amount_kopeks: MONEY_KOPEKS });
  await operator.call('POST', '/cabinet/subscription/purchase-tariff', asCustomer, { tariff_id: 1, period_days: 30 });
}

// One visit: each part goes on where the last one ended.
describe.skipIf(executable === null)('the example cabinet', { shuffle: false }, () => {
  describe('without an answer of the service', () => {
    it('repeats a renewal whose answer was lost with the same key, and pays once', async () => {
      await page.goto(`${site.url}/#/renewal`);
      await page.getByTestId('renewal').getByTestId('buy').waitFor();
      const keys: string[] = [];
      let isCut = true;
      await page.route('**/trpc/cabinet.subscription.renew**', async (route) => {
        const request = route.request();
        if (request.method() !== 'POST') return route.continue();
        keys.push((await request.allHeaders())['idempotency-key'] ?? '');
        if (!isCut) return route.continue();
        // The service carries it out, and its answer never arrives.
        await route.fetch();
        return route.abort('connectionreset');
      });
      const before = await paidRenewals();
      await page.getByTestId('renewal').getByTestId('buy').click();
      await page.getByTestId('repeat').waitFor();
      expect(await page.getByTestId('renewal').getByTestId('buy').count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      await shoot(page, 'unknown-outcome');
      isCut = false;
      await page.getByTestId('repeat').click();
      await page.getByTestId('renewal').getByText('Продлено').waitFor();
      expect(new Set(keys).size).toBe(1);
      expect(keys.length).toBeGreaterThan(1);
      expect(await paidRenewals()).toBe(before + 1);
      const others = problems.filter((problem) => !problem.includes('cabinet.subscription.renew'));
      expect(others).toEqual([]);
      problems.length = 0;
    });

    it.each(['its answer is lost', 'it is under way'])(
      'repeats a renewal also when the page is loaded again while %s, and pays once',
      async (name) => {
        await page.goto(`${site.url}/#/renewal`);
        await page.getByTestId('renewal').getByTestId('buy').waitFor();
        const keys: string[] = [];
        let isCut = true;
        let carriedOut: () => void = () => undefined;
        const isCarriedOut = new Promise<void>((resolve) => {
          carriedOut = resolve;
        });
        await page.route('**/trpc/cabinet.subscription.renew**', async (route) => {
          const request = route.request();
          if (request.method() !== 'POST') return route.continue();
          keys.push((await request.allHeaders())['idempotency-key'] ?? '');
          if (!isCut) return route.continue();
          await route.fetch();
          carriedOut();
          // The other one stays without an answer.
          if (name === 'its answer is lost') await route.abort('connectionreset');
        });
        const before = await paidRenewals();
        await page.getByTestId('renewal').getByTestId('buy').click();
        await isCarriedOut;
        if (name === 'its answer is lost') await page.getByTestId('repeat').waitFor();
        await page.reload();
        await page.getByTestId('repeat').waitFor();
        expect(await page.getByTestId('renewal').getByTestId('buy').count()).toBe(0);
        await visit.open('Трафик');
        await page.getByTestId('unknown-outcome').getByRole('link').click();
        isCut = false;
        await page.getByTestId('repeat').click();
        await page.getByTestId('renewal').getByText('Продлено').waitFor();
        expect(new Set(keys).size).toBe(1);
        expect(await paidRenewals()).toBe(before + 1);
        await page.reload();
        await page.getByTestId('renewal').getByTestId('buy').waitFor();
        expect(await page.getByTestId('repeat').count()).toBe(0);
        // One request has never been answered.
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        expect(problems.filter((problem) => !problem.includes('cabinet.subscription.renew'))).toEqual([]);
        problems.length = 0;
      },
    );

    /** Movements of the customer that pay for a subscription. */
    async function paidRenewals(): Promise<number> {
      const { access_token } = await operator.call<SessionAnswer>(
        'POST',
        '/cabinet/auth/email/login',
        {},
        { email: CUSTOMER, password: PASSWORD },
      );
      const { total } = await operator.call<{ total: number }>('GET', '/cabinet/balance/transactions?type=subscription_payment', {
        authorization: `Bearer ${access_token}`,
      });
      return total;
    }
  });

  describe('with the messenger', () => {
    const PERSON = { id: 770_123, first_name: 'Zoe', language_code: 'en' };
    const signedInAs = (name: string) => expect.poll(() => page.locator('main header').textContent()).toContain(name);

    it('signs in with a link that is confirmed in the bot', async () => {
      // The bot has made an account of whoever wrote to it.
      await operator.call('POST', '/users', operator.asToken, { messenger_id: PERSON.id, first_name: PERSON.first_name });
      await page.getByRole('button', { name: 'Выйти' }).click();
      await page.getByRole('button', { name: 'Войти через бота' }).click();
      const link = page.getByTestId('deep-link').getByRole('link');
      const start = new URL((await link.getAttribute('href'))!).searchParams.get('start')!;
      expect(await violationsOf(page)).toEqual([]);
      await shoot(page, 'cabinet-deep-link');
      const chat = await sandboxChat(service.url, PERSON);
      await chat.say(`/start ${start}`);
      await chat.press(`webauth_confirm:${start.replace('webauth_', '')}`);
      await signedInAs(PERSON.first_name);
    });

    it('signs in by itself when the messenger opens it as a mini-app', async () => {
      await page.getByRole('button', { name: 'Выйти' }).click();
      await page.getByRole('button', { name: 'Войти через бота' }).waitFor();
      const { BOT_TOKEN } = parseEnv(await readFile(join(folder, 'data', 'sandbox-bot.env'), 'utf8'));
      const person = { id: 770_124, first_name: 'Mina', language_code: 'en' };
      const launch = new URLSearchParams({ tgWebAppData: signInitData(BOT_TOKEN!, person, new Date()), tgWebAppVersion: '8.0' });
      await page.goto('about:blank');
      await page.goto(`${site.url}/#${launch}`);
      await signedInAs(person.first_name);
      // The signed data are not left in the address.
      expect(new URL(page.url()).hash).not.toContain('tgWebAppData');
    });
  });
});
