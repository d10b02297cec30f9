import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CuttingService, startCuttingService } from '../support/cutting-service.ts';
import { eventually } from '../support/eventually.ts';
import { aPng } from '../support/image-samples.ts';
import { startService, stopService } from '../support/page-and-service.ts';
import { type SandboxChat, sandboxChat } from '../support/sandbox-chat.ts';

/** The example bot as a process, and persons who use it by the chats of the sandbox page. */

const root = join(import.meta.dirname, '..', '..');
const PRICE_KOPEKS = 50_000;

let folder: string;
let service: Awaited<ReturnType<typeof startService>>;
/** Between bot and service; the Bot API is reached directly. */
let between: CuttingService;
let environment: Record<string, string>;
let bot: ChildProcess;
const log: string[] = [];
let people = 6_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'example-bot-'));
  service = await startService(folder, 'http://localhost', { ADMIN_EMAILS: 'owner@vpn.example' });
  const file = join(folder, 'data', 'sandbox-bot.env');
  environment = await eventually(async () => {
    const read = parseEnv(await readFile(file, 'utf8')) as Record<string, string>;
    // The last line: the file is complete.
    expect(read.WEBHOOK_SECRET_TOKEN).toMatch(/^.{32}$/);
    return read;
  });
  between = await startCuttingService(service.url);
  bot = await startBot();
}, 600_000);

afterAll(async () => {
  bot?.kill('SIGKILL');
  await between?.close();
  if (service) await stopService(service.child);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** @returns when the bot fetches updates */
async function startBot(): Promise<ChildProcess> {
  const { NODE_ENV: _mode, ...inherited } = process.env;
  const changed = { SERVICE_URL: between.url, BOT_STATE_FOLDER: join(folder, 'bot-state') };
  const child = spawn(process.execPath, [join(root, 'examples', 'bot', 'src', 'main.ts')], {
    env: Object.assign(inherited, environment, changed),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => log.push(String(chunk)));
  const started = log.length;
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`The bot ended:\n${log.join('')}`);
    expect(log.slice(started).join('')).toContain('is ready');
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

async function web<T>(path: string, body?: unknown): Promise<T> {
  const response = await send(body === undefined ? 'GET' : 'POST', path, body);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

interface User {
  id: number;
  balance_kopeks: number;
  referred_by_id: number | null;
  referral_code: string;
  language: string;
  subscription: { is_trial: boolean; actual_status: string } | null;
}

const userOf = (chat: SandboxChat) => web<User>(`/users/by-messenger-id/${chat.id}`);

/** A person who has not written yet. */
function aPerson(name: string, language = 'en'): Promise<SandboxChat> {
  people += 1;
  return sandboxChat(service.url, { id: people, first_name: name, language_code: language });
}

/** A person with the menu before them, and money on the balance. */
async function aCustomer(name: string, kopeks = 0): Promise<SandboxChat> {
  const chat = await aPerson(name);
  await chat.say('/start');
  await chat.sees('menu_buy');
  if (kopeks > 0) await web(`/users/${(await userOf(chat)).id}/balance`, { amount_kopeks: kopeks });
  return chat;
}

/** Up to the button that buys 14 days of the first tariff. */
async function offered(chat: SandboxChat): Promise<void> {
  for (const button of ['menu_buy', 'tariff:1', 'period:1:14']) await chat.press(button);
  await chat.sees('buy:1:14');
}

async function purchasesOf(chat: SandboxChat): Promise<number> {
  const { id } = await userOf(chat);
  const { items } = await web<{ items: { type: string }[] }>(`/transactions?user_id=${id}&type=subscription_payment`);
  return items.length;
}

describe('the example bot', () => {
  it('type-checks with the types that are generated from the service', async () => {
    const types = join(root, 'packages', 'document-check', 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
    const target = join(root, 'examples', 'bot', 'src', 'generated', 'openapi.d.ts');
    await mkdir(dirname(target), { recursive: true });
    const generated = [types, `${service.url}/openapi.json`, '--default-non-nullable', 'false', '--output', target];
    const generator = spawnSync(process.execPath, generated, { encoding: 'utf8' });
    expect(generator.status, generator.stderr).toBe(0);
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const checked = spawnSync(process.execPath, [compiler, '-p', join(root, 'examples', 'bot')], { encoding: 'utf8' });
    expect(checked).toMatchObject({ status: 0, stdout: '' });
  });

  it('greets in the language of the person with the menu of the service', async () => {
    const vera = await aPerson('Vera', 'ru');
    await vera.say('/start');
    expect((await vera.sees('menu_buy')).text).toContain('Баланс: <b>0 ₽</b>');
    await vera.press('menu_language');
    await vera.press('language:en');
    expect((await vera.sees('menu_buy')).text).toContain('Balance');
    expect((await userOf(vera)).language).toBe('en');
  });

  it('shows the welcome text, the message and the layout of the operator', async () => {
    await web('/welcome-texts', { text: 'Welcome, {first_name}! <b>Enjoy</b>' });
    await web('/main-menu/messages', { message_text: 'Sale this week' });
    await web('/menu-layout/buttons', {
      id: 'site',
      type: 'url',
      text: { en: 'Site' },
      action: 'https://vpn.example',
      row_id: 'balance_row',
    });
    const rich = { id: 'rich', type: 'callback', text: { en: 'For the rich' }, action: 'menu_faq', row_id: 'balance_row' };
    await web('/menu-layout/buttons', Object.assign(rich, { conditions: { min_balance_kopeks: 1_000_000 } }));
    await setting('MENU_LAYOUT_ENABLED', true);
    const ann = await aPerson('Ann <3');
    await ann.say('/start');
    expect((await ann.sees('trial_activate')).text).toBe('Welcome, Ann &lt;3! <b>Enjoy</b>');
    await ann.press('back_to_menu');
    const menu = await ann.sees('menu_buy');
    expect(menu.text).toContain('Sale this week');
    const texts = menu.buttons.flat().map(({ text }) => text);
    expect(texts).toContain('Site');
    expect(texts).not.toContain('For the rich');
    await setting('MENU_LAYOUT_ENABLED', false);
    for (const { id } of (await web<{ items: { id: number }[] }>('/welcome-texts')).items)
      await change('DELETE', `/welcome-texts/${id}`);
  });

  it('activates the trial once and sends the link with its QR code', async () => {
    const chat = await aCustomer('Tom');
    await chat.press('menu_trial');
    await chat.press('trial_activate');
    await chat.press('subscription_connect');
    const link = await chat.sends((message) => message.photo !== undefined);
    expect(link.text).toMatch(/<code>http\S+<\/code>/);
    expect((await fetch(`${service.url}/sandbox/api/pictures/${link.photo}`)).headers.get('content-type')).toBe('image/png');
    expect((await userOf(chat)).subscription).toMatchObject({ is_trial: true, actual_status: 'active' });
  });

  it('tops up by link, then returns to its order and buys from the balance', async () => {
    const chat = await aCustomer('Lena');
    await offered(chat);
    await chat.press('buy:1:14');
    for (const button of ['balance_topup', 'method:sandbox', 'sum:sandbox:50000']) await chat.press(button);
    const page = await chat.link(/\/pay|\/invoice|sandbox/);
    await chat.payPage(page);
    await eventually(async () => expect((await userOf(chat)).balance_kopeks).toBe(PRICE_KOPEKS));
    // By the button of the service's notice.
    await chat.press('return_to_saved_cart');
    await chat.press('buy:1:14');
    await eventually(async () =>
      expect((await userOf(chat)).subscription).toMatchObject({ is_trial: false, actual_status: 'active' }),
    );
    expect((await userOf(chat)).balance_kopeks).toBe(0);
  });

  it('shows price, discount and what remains before it buys, and buys at that price', async () => {
    const chat = await aCustomer('Gleb', PRICE_KOPEKS);
    await joinsGroup(chat, 10);
    await offered(chat);
    const offer = await chat.sees('buy:1:14');
    expect(offer.text).toContain('Price: <s>500 ₽</s> <b>450 ₽</b>, discount 10 %');
    expect(offer.text).toContain('Paid from the balance: 500 ₽, then <b>50 ₽</b> remains.');
    await chat.press('buy:1:14');
    await eventually(async () => expect((await userOf(chat)).balance_kopeks).toBe(5_000));
  });

  it('pays nothing but the price that it has shown', async () => {
    const chat = await aCustomer('Hugo', PRICE_KOPEKS);
    await offered(chat);
    await joinsGroup(chat, 20);
    await chat.press('buy:1:14');
    const again = await chat.sends(({ text }) => text.includes('The price has changed, nothing was paid'));
    expect(again.text).toContain('<b>400 ₽</b>');
    expect(await purchasesOf(chat)).toBe(0);
    await chat.press('buy:1:14');
    await eventually(async () => expect((await userOf(chat)).balance_kopeks).toBe(10_000));
  });

  it('sells by period and traffic where the installation has no tariffs', async () => {
    await setting('SALES_MODE', 'classic');
    const chat = await aCustomer('Karl', 20 * PRICE_KOPEKS);
    await chat.press('menu_buy');
    await chat.press('classic:30');
    const packages = await chat.sends(({ text }) => text.includes('Choose the traffic'));
    const chosen = String(packages.buttons.flat().find(({ callback_data: data }) => data?.startsWith('traffic:'))?.callback_data);
    await chat.press(chosen);
    const order = chosen.replace('traffic', 'order');
    const shown = Number(/(\d+(?:\.\d+)?) ₽<\/b>\n/.exec((await chat.sees(order)).text)?.[1]);
    await chat.press(order);
    await chat.sends(({ text }) => text.includes('is yours'));
    expect((await userOf(chat)).balance_kopeks).toBe(20 * PRICE_KOPEKS - shown * 100);
    await setting('SALES_MODE', 'tariffs');
  });

  it('tops up by Stars, whose payment the service handles', async () => {
    const chat = await aCustomer('Stas');
    for (const button of ['menu_balance', 'method:messenger_stars', 'sum:messenger_stars:30000']) await chat.press(button);
    expect(await chat.payStars(await chat.link(/\/invoice\//))).toBe('paid');
    await eventually(async () => expect((await userOf(chat)).balance_kopeks).toBe(30_000));
  });

  it('activates a promo code after one that is unknown', async () => {
    await web('/promo-codes', { code: 'HELLO', type: 'balance', balance_bonus_kopeks: 7_000, max_uses: 5 });
    const chat = await aCustomer('Petra');
    await chat.press('menu_promocode');
    await chat.sends(({ text }) => text.includes('Send the promo code'));
    await chat.say('NOPE');
    await chat.sends(({ text }) => text.includes('Promo code not found'));
    await chat.say('HELLO');
    await eventually(async () => expect((await userOf(chat)).balance_kopeks).toBe(7_000));
  });

  it('invites a friend by the link of the referral programme', async () => {
    const chat = await aCustomer('Rita');
    await chat.press('menu_referrals');
    const invitation = await chat.sends((message) => message.photo !== undefined);
    const code = /\?start=([\w-]+)/.exec(invitation.text)?.[1];
    const friend = await aPerson('Fred');
    await friend.say(`/start ${code}`);
    await friend.sees('menu_buy');
    expect((await userOf(friend)).referred_by_id).toBe((await userOf(chat)).id);
  });

  it('opens a ticket with a photo once, and shows the answer', async () => {
    const chat = await aCustomer('Tina');
    for (const button of ['menu_support', 'create_ticket']) await chat.press(button);
    await chat.sends(({ text }) => text.includes('Describe the problem'));
    await chat.sendPhoto(aPng(4, 4), 'It does not connect at all');
    await chat.sends(({ text }) => text.includes('is open'));
    await chat.repeat();
    await chat.say('/menu');
    await chat.settled();
    const { id } = await userOf(chat);
    const tickets = await web<{ id: number }[]>(`/tickets?user_id=${id}`);
    expect(tickets).toHaveLength(1);
    const ticket = await web<{ messages: { has_media: boolean; media_type: string }[] }>(`/tickets/${tickets[0]!.id}`);
    expect(ticket.messages).toMatchObject([{ has_media: true, media_type: 'photo' }]);
    await web(`/tickets/${tickets[0]!.id}/reply`, { message_text: 'Please update the app' });
    // By the buttons of the service's notice.
    await chat.press(`view_ticket_${tickets[0]!.id}`);
    await chat.sees(`reply:${tickets[0]!.id}`);
    await web(`/tickets/${tickets[0]!.id}/reply`, { message_text: 'Has it helped?' });
    const notice = await chat.sees(`close_ticket_notification_${tickets[0]!.id}`);
    await chat.press(`close_ticket_notification_${tickets[0]!.id}`);
    await eventually(async () => expect((await chat.latest())?.messageId).not.toBe(notice.messageId));
  });
});

describe('an update that comes again', () => {
  it('buys once', async () => {
    const chat = await aCustomer('Olga', 3 * PRICE_KOPEKS);
    await offered(chat);
    await chat.press('buy:1:14');
    await eventually(async () => expect(await purchasesOf(chat)).toBe(1));
    await chat.repeat();
    await chat.repeat();
    await chat.say('/menu');
    await chat.settled();
    expect([await purchasesOf(chat), (await userOf(chat)).balance_kopeks]).toEqual([1, 2 * PRICE_KOPEKS]);
  });

  it('buys once when the bot was killed before the answer', async () => {
    const chat = await aCustomer('Kira', 3 * PRICE_KOPEKS);
    await offered(chat);
    const withheld = between.withholdAnswer('/cabinet/subscription/purchase-tariff');
    await chat.press('buy:1:14');
    await withheld;
    await kill(bot);
    bot = await startBot();
    await chat.sends(({ text }) => text.includes('is yours'));
    expect([await purchasesOf(chat), (await userOf(chat)).balance_kopeks]).toEqual([1, 2 * PRICE_KOPEKS]);
  });

  it('opens one ticket when the bot was killed before the answer', async () => {
    const chat = await aCustomer('Dora');
    for (const button of ['menu_support', 'create_ticket']) await chat.press(button);
    await chat.sends(({ text }) => text.includes('Describe the problem'));
    const withheld = between.withholdAnswer('/cabinet/tickets');
    await chat.sendPhoto(aPng(5, 5), 'The picture shows the error');
    await withheld;
    await kill(bot);
    bot = await startBot();
    await chat.sends(({ text }) => text.includes('is open'));
    expect(await web<unknown[]>(`/tickets?user_id=${(await userOf(chat)).id}`)).toHaveLength(1);
  });

  it('is still an answer to the question that the bot asked before it was killed', async () => {
    const chat = await aCustomer('Nina');
    await chat.press('menu_support');
    await chat.press('create_ticket');
    await chat.sends(({ text }) => text.includes('Describe the problem'));
    await eventually(async () => {
      const state = await readFile(join(folder, 'bot-state', `${chat.id}.json`), 'utf8');
      expect(JSON.parse(state)).toEqual({ expected: { kind: 'ticket' } });
    });
    await kill(bot);
    await chat.say('Written while the bot was away');
    bot = await startBot();
    await chat.sends(({ text }) => text.includes('is open'));
  });
});

describe('a service that is away', () => {
  it('is waited for, and the person gets the answer', async () => {
    const chat = await aCustomer('Wanda', PRICE_KOPEKS);
    await offered(chat);
    between.refuseAll();
    await chat.press('buy:1:14');
    await between.hasRefused(2);
    between.acceptAll();
    await chat.sends(({ text }) => text.includes('is yours'));
    expect(await purchasesOf(chat)).toBe(1);
  });
});

describe('several chats', () => {
  it('are answered side by side, each in its order', async () => {
    const slow = await aCustomer('Slava', PRICE_KOPEKS);
    const quick = await aPerson('Quinn');
    await offered(slow);
    const withheld = between.withholdAnswer('/cabinet/subscription/purchase-tariff');
    await slow.press('buy:1:14');
    await withheld;
    await slow.say('/menu');
    await quick.say('/start');
    await quick.sees('menu_buy');
    // What the slow chat wrote meanwhile waits for the purchase.
    await expect(slow.latest()).resolves.toMatchObject({ senderId: slow.id });
    await kill(bot);
    bot = await startBot();
    await slow.settled();
    await slow.sends(({ text }) => text.includes('is yours'));
    expect(await purchasesOf(slow)).toBe(1);
  });
});

let groups = 0;

/** The person's promo group gives a discount on periods. */
async function joinsGroup(chat: SandboxChat, percent: number): Promise<void> {
  groups += 1;
  const { id } = await web<{ id: number }>('/promo-groups', { name: `Group ${groups}`, period_discounts: { 14: percent } });
  await change('PATCH', `/users/${(await userOf(chat)).id}`, { promo_group_id: id });
}

const setting = (key: string, value: unknown) => change('PUT', `/settings/${key}`, { value });

async function change(method: string, path: string, body?: unknown): Promise<void> {
  const response = await send(method, path, body);
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
}

async function send(method: string, path: string, body: unknown): Promise<Response> {
  const key = (await readFile(environment.API_KEY_FILE!, 'utf8')).trim();
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  return fetch(`${service.url}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
}
