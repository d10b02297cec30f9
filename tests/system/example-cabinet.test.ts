import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addContent, type Operator, operatorOf, sendPoll } from '../support/cabinet-content.ts';
import { type CabinetVisit, visitOf } from '../support/cabinet-visit.ts';
import { type Chromium, findChromium, startChromium } from '../support/chromium.ts';
import { buildCabinet, installCabinet, linkInMail } from '../support/example-cabinet.ts';
import { aPng } from '../support/image-samples.ts';
import { servePage, startService, stopService } from '../support/page-and-service.ts';
import { shoot, violationsOf, watch } from '../support/watched-page.ts';

/** What a customer does in the example cabinet, view by view, in a real browser against the service with its sandbox. */

const OWNER = 'owner@shop.example';
const CUSTOMER = 'vera@shop.example';
const PASSWORD = 'correct horse 7';
/** With everything that the operator has switched on, in the order of the navigation. */
const VIEWS = [
  'Your cabinet',
  'Tariffs',
  'Renewal',
  'Devices',
  'Servers',
  'Traffic',
  'Balance',
  'Gifts',
  'Wheel of fortune',
  'Polls',
  'Contests',
  'Invite friends',
  'Support',
  'Notifications',
  'Account',
  'My data',
];

const executable = findChromium();

let folder: string;
let site: Awaited<ReturnType<typeof servePage>>;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Chromium;
let page: Page;
let problems: string[];
let visit: CabinetVisit;
let operator: Operator;

const textOf = (testId: string) => page.getByTestId(testId).textContent();

beforeAll(async () => {
  if (executable === null) return;
  folder = await mkdtemp(join(tmpdir(), 'example-cabinet-'));
  const { project } = await installCabinet(folder);
  site = await servePage(join(project, 'dist'));
  service = await startService(folder, site.url, {
    ADMIN_EMAILS: OWNER,
    PERSONAL_DATA_SELF_SERVICE: 'export_and_erasure',
    REFERRAL_WITHDRAWAL_ENABLED: 'true',
    TRAFFIC_TOPUP_ENABLED: 'true',
  });
  await buildCabinet(project, service.url);
  operator = await operatorOf(service.url, join(folder, 'data'));
  await addContent(operator, await operator.signUp(OWNER, PASSWORD));
  browser = await startChromium(executable);
  page = browser.context.pages()[0] ?? (await browser.context.newPage());
  // A background that moves is drawn by the processor here.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // An order that the balance does not cover is saved with a refusal; a value of the settings is refused at its field.
  problems = watch(page, (problem) => /^refused: (402 |400 POST \S+notifications\.update)/.test(problem));
  visit = visitOf(page, problems);
});

afterAll(async () => {
  await browser?.close();
  if (service) await stopService(service.child);
  site?.server.close();
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

// One visit: each part goes on where the last one ended.
describe.skipIf(executable === null)('the example cabinet', { shuffle: false }, () => {
  describe('view by view', () => {
    it('signs up, sets another password by mail and signs in with it', async () => {
      await page.goto(`${site.url}/?ref=unknown`);
      await page.getByRole('button', { name: 'Регистрация' }).click();
      await page.getByLabel('Эл. почта').fill(CUSTOMER);
      await page.getByLabel('Пароль').fill('forgotten 123');
      await page.locator('button[type=submit]').click();
      await page.getByTestId('mail-sent').getByRole('link').waitFor();
      await visit.checked('mail-sent');
      await page.goto(await linkInMail(service.url, CUSTOMER, 'verify-email'));
      // The last that a new user's overview loads; whoever signs out before has calls refused.
      await page.getByTestId('trial').waitFor();
      await page.getByRole('button', { name: 'Выйти' }).click();

      await page.getByRole('button', { name: 'Забыли пароль?' }).click();
      await page.getByLabel('Эл. почта').fill(CUSTOMER);
      await page.getByRole('button', { name: 'Отправить ссылку' }).click();
      await page.getByText('Если этот адрес нам известен').waitFor();
      await page.goto(await linkInMail(service.url, CUSTOMER, 'reset-password'));
      await page.getByLabel('Пароль').fill(PASSWORD);
      await visit.checked('new-password');
      await page.getByRole('button', { name: 'Сохранить' }).click();
      await page.getByText('Пароль изменён').waitFor();
      await page.getByRole('button', { name: 'Ко входу' }).click();
      await page.getByRole('button', { name: 'Войти через бота' }).waitFor();
      await visit.checked('sign-in');
      await page.getByLabel('Эл. почта').fill(CUSTOMER);
      await page.getByLabel('Пароль').fill(PASSWORD);
      await page.locator('button[type=submit]').click();
      await page.getByTestId('balance').waitFor();
      await expect.poll(() => textOf('live')).toBe('на связи');
      await visit.settled();
      await visit.checked('overview-new');
    });

    it('saves an order that the balance does not cover, tops up what is missing and pays it', async () => {
      await visit.open('Тарифы');
      await page.getByRole('button', { name: 'Выбрать Стандартный' }).click();
      await page.getByRole('radio').nth(1).check();
      await expect.poll(() => textOf('price')).toMatch(/990\s₽/);
      expect(await textOf('missing')).toMatch(/990\s₽/);
      await visit.checked('tariffs');
      await page.getByTestId('buy').click();
      await page.getByText('Заказ сохранён').waitFor();
      expect(await page.getByTestId('order').getByLabel('Сумма, ₽').inputValue()).toBe('990');
      await visit.checked('order-saved');

      await visit.payOnPage(() => page.getByTestId('order').getByTestId('topup').click());
      await page.getByRole('button', { name: 'Купить', exact: true }).click();
      await page.getByTestId('order').getByText('Приятного пользования').waitFor();
      await expect.poll(() => textOf('news')).toContain('Подписка активна');
      await visit.checked('bought');
      await visit.open('Личный кабинет');
      await page.getByTestId('subscription-link').waitFor();
      await visit.checked('overview');
    });

    it('keeps the view at a reload, and goes back with the browser', async () => {
      await visit.open('Баланс');
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Баланс' }).waitFor();
      await visit.settled();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Личный кабинет' }).waitFor();
      expect(problems).toEqual([]);
    });

    it('tops up, activates a promo code and lists the movements', async () => {
      await visit.open('Баланс');
      await page.getByLabel('Сумма, ₽').fill('5000');
      await visit.payOnPage(() => page.getByTestId('topup').click());
      await expect.poll(() => textOf('balance')).toMatch(/^5\s000\s₽$/);
      const promo = page.getByTestId('promo-code');
      await promo.getByLabel('Код').fill('WELCOME');
      await promo.getByRole('button', { name: 'Активировать' }).click();
      await expect.poll(() => textOf('balance')).toMatch(/^5\s100\s₽$/);
      await expect.poll(() => textOf('movements')).toMatch(/990/);
      await visit.checked('balance');
    });

    it('renews by hand, and switches the automatic renewal on', async () => {
      await visit.open('Продление');
      const end = await textOf('end-date');
      await page.getByTestId('renewal').getByTestId('buy').click();
      await page.getByTestId('renewal').getByText('Продлено').waitFor();
      await expect.poll(() => textOf('end-date')).not.toBe(end);
      const autopay = page.getByTestId('autopay');
      await autopay.getByRole('checkbox').check();
      await autopay.getByLabel('За сколько дней до конца').fill('5');
      await autopay.getByRole('button', { name: 'Сохранить' }).click();
      await expect.poll(() => autopay.getByRole('checkbox').isChecked()).toBe(true);
      await visit.checked('renewal');
      await page.reload();
      await expect.poll(() => page.getByTestId('autopay').getByLabel('За сколько дней до конца').inputValue()).toBe('5');
    });

    it('buys devices and traffic', async () => {
      await visit.open('Устройства');
      await page.getByTestId('more-devices').getByLabel('Сколько').fill('2');
      await page.getByTestId('more-devices').getByTestId('buy').click();
      await page.getByText('Меньше устройств').waitFor();
      await visit.settled();
      await visit.checked('devices');
      await visit.open('Трафик');
      await page.getByTestId('packages').getByRole('radio').first().check();
      await page.getByTestId('packages').getByTestId('buy').click();
      await page.getByTestId('traffic').getByText('+10 ГБ').waitFor();
      await visit.checked('traffic');
    });

    it('changes the servers of the running subscription', async () => {
      await visit.open('Серверы');
      const servers = page.getByTestId('servers');
      const boxes = servers.getByRole('checkbox');
      await expect.poll(() => boxes.count()).toBeGreaterThan(1);
      const connected = () => servers.getByRole('checkbox', { checked: true }).count();
      const before = await connected();
      expect(await servers.getByTestId('buy').isDisabled()).toBe(true);
      // The tariff has connected all of them.
      await boxes.first().uncheck();
      await servers.getByTestId('buy').click();
      await servers.getByText('Сохранено').waitFor();
      await expect.poll(connected).toBe(before - 1);
      await visit.checked('servers');
      await page.reload();
      await servers.getByRole('checkbox', { checked: false }).check();
      await servers.getByTestId('buy').click();
      await servers.getByText('Сохранено').waitFor();
      await expect.poll(connected).toBe(before);
    });

    it('shows what a switch to another tariff costs', async () => {
      await visit.open('Тарифы');
      await page.getByRole('button', { name: 'Выбрать Семейный' }).click();
      await page.getByRole('button', { name: 'Перейти на этот тариф' }).waitFor();
      expect(await textOf('summary')).toContain('Стандартный');
      await visit.checked('switch');
    });

    it('gives a subscription as a code that another account can activate', async () => {
      await visit.open('Подарки');
      const order = page.getByTestId('gift-order');
      await order.getByLabel('Сообщение').fill('С праздником!');
      await order.getByTestId('buy').click();
      await order.getByText('Подарок куплен').waitFor();
      const code = (await page.getByTestId('sent-gifts').locator('code').textContent())!;
      await visit.checked('gifts');
      const asFriend = await operator.signUp('friend@shop.example', PASSWORD);
      const given = await operator.call<{ status: string }>('POST', '/cabinet/gift/activate', asFriend, { code });
      expect(given.status).toBe('activated');
    });

    it('spins the wheel', async () => {
      await visit.open('Колесо удачи');
      await page.getByTestId('spin').click();
      await page.getByTestId('prize').waitFor();
      expect(await textOf('prize')).toContain('Приз:');
      await expect.poll(() => page.getByTestId('spins').getByRole('listitem').count()).toBe(1);
      await visit.checked('wheel');
    });

    it('answers a poll and gets its reward', async () => {
      await sendPoll(operator);
      await page.reload();
      await visit.open('Опросы');
      await page.getByRole('button', { name: 'Ответить Как вам сервис?' }).click();
      await page.getByRole('button', { name: 'Отличная' }).click();
      await page.getByRole('heading', { name: 'Поддержка?' }).waitFor();
      await visit.checked('poll');
      await page.getByRole('button', { name: 'Помогает' }).click();
      await expect.poll(() => textOf('question')).toMatch(/Спасибо за ответы! награда 50\s₽/);
      await page.getByTestId('polls').getByText('пройден').waitFor();
      await visit.checked('polls');
    });

    it('plays a contest once', async () => {
      await visit.open('Конкурсы');
      await page.getByRole('button', { name: /^Играть/ }).click();
      await page.getByTestId('game').getByRole('button').nth(8).waitFor();
      await visit.checked('contest');
      await page.getByRole('button', { name: 'Место 1', exact: true }).click();
      await page.getByTestId('contests').getByText('сыграно').waitFor();
      expect(await textOf('game')).not.toBe('');
      await visit.checked('contests');
    });

    it('asks support with an image, sees the answer arrive and answers it', async () => {
      await visit.open('Поддержка');
      await page.getByLabel('Тема').fill('Не подключается');
      await page.getByLabel('Сообщение').fill('Посмотрите на снимок.');
      await page
        .getByLabel('Вложение')
        .setInputFiles({ name: 'screen.png', mimeType: 'image/png', buffer: Buffer.from(aPng(30, 20)) });
      await page.getByRole('button', { name: 'Отправить' }).click();
      const image = page.getByTestId('ticket').getByRole('img', { name: 'Вложенное изображение' });
      await expect.poll(() => image.evaluate((element) => Reflect.get(element, 'naturalWidth'))).toBe(30);
      const id = Number(/tickets\/(\d+)/.exec(page.url())![1]);
      await operator.call('POST', `/tickets/${id}/reply`, operator.asToken, { message_text: 'Перезапустите приложение.' });
      await page.getByTestId('ticket').getByText('Перезапустите приложение.').waitFor();
      await page.getByLabel('Сообщение').fill('Помогло!');
      await page.getByRole('button', { name: 'Отправить' }).click();
      await page.getByTestId('ticket').getByText('Помогло!').waitFor();
      await expect.poll(() => page.getByLabel('Сообщение').inputValue()).toBe('');
      await visit.checked('ticket');
      await page.getByRole('link', { name: '← Ваши обращения' }).click();
      await page.getByTestId('tickets').getByRole('link', { name: 'Не подключается' }).waitFor();
      await visit.checked('tickets');
    });

    it('shows the referral links and terms, and why nothing can be withdrawn yet', async () => {
      await visit.open('Пригласить друзей');
      await expect.poll(() => textOf('referral-link')).toMatch(/\?ref=ref/);
      expect(await page.getByTestId('withdrawal').getByRole('button').count()).toBe(0);
      await visit.checked('referral');
    });

    it('changes what notifications are sent', async () => {
      await visit.open('Уведомления');
      const form = page.getByTestId('notification-settings');
      await form.getByLabel('За сколько дней до конца').fill('99');
      await form.getByRole('button', { name: 'Сохранить' }).click();
      await form.locator('[aria-invalid=true]').waitFor();
      await form.getByLabel('За сколько дней до конца').fill('7');
      await form.getByLabel('Новости').uncheck();
      await form.getByRole('button', { name: 'Сохранить' }).click();
      await form.getByText('Сохранено').waitFor();
      await visit.checked('notifications');
      await page.reload();
      await expect.poll(() => form.getByLabel('Новости').isChecked()).toBe(false);
    });

    it('lists the ways to sign in, and exports the data of the account', async () => {
      await visit.open('Аккаунт');
      await page.getByTestId('providers').getByText(CUSTOMER).waitFor();
      await visit.checked('account');
      await visit.open('Мои данные');
      await page.getByRole('button', { name: 'Запросить архив' }).click();
      await page.getByRole('button', { name: 'Получить ссылку' }).click();
      const address = await page.getByTestId('archive').getAttribute('href');
      expect((await fetch(address!)).status).toBe(200);
      await visit.checked('my-data');
    });
  });

  const PHONE = { width: 360, height: 740 };

  describe('on a telephone, in English', () => {
    it('opens every view from the menu by the keyboard, without anything wider than the screen', async () => {
      await page.setViewportSize(PHONE);
      await page.goto(site.url);
      await page.getByRole('button', { name: 'English' }).click();
      const menu = page.getByTestId('menu');
      await menu.waitFor();
      await expect.poll(() => page.locator('#views a').allTextContents()).toEqual(VIEWS);
      for (const name of VIEWS) {
        await menu.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name, exact: true }).focus();
        await page.keyboard.press('Enter');
        const heading = page.getByRole('heading', { level: 1, name });
        await heading.waitFor();
        await visit.settled();
        expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(PHONE.width);
        expect(await violationsOf(page), name).toEqual([]);
        await shoot(page, `phone-${name.replaceAll(' ', '-').toLowerCase()}`);
      }
      expect(problems).toEqual([]);
    });
  });

  describe('of an installation without tariffs', () => {
    it('calculates the price of period, servers and devices before they are bought', async () => {
      await operator.call('PUT', '/settings/SALES_MODE', operator.asToken, { value: 'classic' });
      await page.goto(`${site.url}/#/tariffs`);
      await page.reload();
      await page.getByTestId('price').waitFor();
      await visit.settled();
      const price = await textOf('price');
      await page.getByRole('spinbutton', { name: 'Devices' }).fill('4');
      await expect
        .poll(async () => [await page.locator('.loading').count(), (await textOf('price')) === price])
        .toEqual([0, false]);
      expect(await violationsOf(page)).toEqual([]);
      await shoot(page, 'classic');
      expect(problems).toEqual([]);
    });
  });
});
