import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as OTPAuth from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkConsumers, checkTypes, installTarball, type PackedClient } from '../../scripts/pack-client.ts';
import { type Chromium, findChromium, startChromium } from '../support/chromium.ts';
import { buildCabinet, callService, installCabinet, linkInMail } from '../support/example-cabinet.ts';
import { aPng } from '../support/image-samples.ts';
import { run, servePage, startService, stopService } from '../support/page-and-service.ts';
import { shoot } from '../support/watched-page.ts';

/**
 * The proof of the client package: its tarball alone, installed beside the example cabinet, is type-checked, bundled and driven in
 * a real browser against the built service with its sandbox.
 */

const root = join(import.meta.dirname, '..', '..');
const EMAIL = 'vera@shop.example';
const PASSWORD = 'correct horse 7';
/** Ten times what the client's declarations need; the types of the router itself need more, and an editor would wait for them. */
const MAX_INSTANTIATIONS = 300_000;

let folder: string;
let packed: PackedClient;
let site: Awaited<ReturnType<typeof servePage>>;
let service: Awaited<ReturnType<typeof startService>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cabinet-spa-'));
  const installed = await installCabinet(folder);
  packed = installed.packed;
  const { project } = installed;
  site = await servePage(join(project, 'dist'));
  // The owner of the shop is its first customer.
  service = await startService(folder, site.url, { ADMIN_EMAILS: EMAIL, SECOND_FACTOR_FOR: 'staff' });
});

afterAll(async () => {
  if (service) await stopService(service.child);
  site?.server.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Alike in both directions, below every procedure that is shipped. */
const SAME_TYPES = `import type { CabinetProcedures as Source } from '${join(root, 'packages/client/src/procedures.ts')}';
import type { AdminProcedures as AdminSource } from '${join(root, 'packages/client/src/admin-procedures.ts')}';
import type { CabinetProcedures as Shipped, Mutation, Query } from '@subscription-service/client';
import type { AdminProcedures as AdminShipped } from '@subscription-service/client/admin';
type Of<A, B> = {
  [K in keyof B]: K extends keyof A
    ? B[K] extends Query<never, unknown> | Mutation<never, unknown> ? A[K] : Of<A[K], B[K]>
    : never;
};
declare const source: Source;
declare const shipped: Shipped;
export const there: Shipped = source;
export const back: Of<Source, Shipped> = shipped;
declare const adminSource: AdminSource;
declare const adminShipped: AdminShipped;
export const adminThere: AdminShipped = adminSource;
export const adminBack: Of<AdminSource, AdminShipped> = adminShipped;
`;

describe('the tarball of the client', () => {
  it('says the same as the router', async () => {
    const project = join(folder, 'same-types');
    await mkdir(project);
    await installTarball(packed.tarball, project);
    await writeFile(join(project, 'same-types.ts'), SAME_TYPES);
    const compilerOptions = {
      noEmit: true,
      incremental: false,
      tsBuildInfoFile: null,
      typeRoots: [join(root, 'node_modules', '@types')],
    };
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: ['same-types.ts'] };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
    await writeFile(join(project, 'package.json'), '{"type":"module"}');
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project], {
      cwd: project,
      encoding: 'utf8',
    });
    // What is wrong elsewhere is the matter of the type check of the whole.
    expect(stdout.split('\n').filter((line) => line.includes('same-types.ts'))).toEqual([]);
  });

  it('spec 10 K5: is left in a relative folder of the caller', async () => {
    const env = { ...process.env, INIT_CWD: folder };
    const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'pack-client.ts'), 'packed'], { cwd: root, env });
    expect([status, await readdir(join(folder, 'packed'))]).toEqual([0, [basename(packed.tarball)]]);
  });

  it('type-checks alone, in browsers’ and in Node’s terms', async () => {
    const { inBrowser, inNode, ofAdmin } = await checkConsumers(packed.tarball);
    expect(Math.max(inBrowser, inNode, ofAdmin)).toBeLessThan(MAX_INSTANTIATIONS);
  });

  it('type-checks the example cabinet', () => {
    expect(checkTypes(join(folder, 'cabinet'))).toBeLessThan(MAX_INSTANTIATIONS);
  });

  it('works in Node without anything beside it', async () => {
    const project = join(folder, 'node-consumer');
    await mkdir(project);
    await installTarball(packed.tarball, project);
    const program = `import { CabinetError, createCabinetClient } from '@subscription-service/client';
      const client = createCabinetClient({ baseUrl: 'http://127.0.0.1:9', timeoutMs: 60_000 });
      const error = await client.api.auth.me.query().catch((reason) => reason);
      if (!(error instanceof CabinetError) || error.code !== 'network_error') throw error;`;
    await writeFile(join(project, 'program.mjs'), program);
    run(['program.mjs'], project);
  });

  it('signs up and receives the feed of the service in Node', async () => {
    const project = join(folder, 'feed-consumer');
    await mkdir(project);
    await installTarball(packed.tarball, project);
    const apiKey = (await readFile(join(folder, 'data', 'api-token'), 'utf8')).trim();
    const program = `import { createCabinetClient, createFeedClient } from '@subscription-service/client';
      const baseUrl = ${JSON.stringify(service.url)};
      const feed = createFeedClient({ baseUrl, apiKey: ${JSON.stringify(apiKey)} });
      setTimeout(() => process.exit(3), 120_000).unref();
      feed.onEvent('user.created', ({ payload, timestamp }) => {
        feed.close();
        if (payload.email !== 'node@shop.example' || Number.isNaN(Date.parse(timestamp))) throw new Error(JSON.stringify(payload));
      });
      feed.onStatus((status) => {
        if (status !== 'open') return;
        const { api } = createCabinetClient({ baseUrl });
        void api.auth.email.registerStandalone.mutate({ email: 'node@shop.example', password: 'correct horse 8' });
      });`;
    await writeFile(join(project, 'program.mjs'), program);
    run(['program.mjs'], project);
  });
});

const executable = findChromium();

// One visit, in four parts: each goes on where the last one ended.
describe('the example cabinet', { shuffle: false }, () => {
  let page: Page;
  let browser: Chromium | undefined;
  const problems: string[] = [];

  beforeAll(async () => {
    if (executable === null) return;
    await buildCabinet(join(folder, 'cabinet'), service.url);
    browser = await startChromium(executable);
    page = browser.context.pages()[0] ?? (await browser.context.newPage());
    page.on('pageerror', (error) => problems.push(String(error)));
  });

  afterAll(async () => {
    await browser?.close();
  });
  const textOf = (testId: string) => page.getByTestId(testId).textContent();

  const call = (method: string, path: string, headers: Record<string, string>, body: object) =>
    callService(service.url, method, path, headers, body);

  it('signs up, tops up, buys and updates live, in a real browser', async ({ skip }) => {
    if (executable === null) skip('there is no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)');

    await page.goto(site.url);
    await page.getByRole('button', { name: 'Регистрация' }).click();
    await page.getByLabel('Эл. почта').fill(EMAIL);
    await page.getByLabel('Пароль').fill('short');
    await page.locator('button[type=submit]').click();
    await expect.poll(() => page.locator('.field .problem').textContent()).toBe('Слишком коротко; не меньше 8');
    await shoot(page, 'cabinet-1-sign-up');
    await page.getByLabel('Пароль').fill(PASSWORD);
    await page.locator('button[type=submit]').click();
    await page.getByTestId('mail-sent').getByRole('link').waitFor();
    await shoot(page, 'cabinet-2-mail-sent');

    const link = await linkInMail(service.url, EMAIL, 'verify-email');
    expect(link.startsWith(site.url)).toBe(true);
    await page.goto(link);
    await page.getByTestId('balance').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    await expect.poll(() => textOf('live')).toBe('на связи');
    await expect.poll(() => textOf('balance')).toMatch(/^0\s₽$/);

    // Whoever reloads the page loses this.
    await page.evaluate('globalThis.isSamePage = true');
    await page.getByLabel('Сумма, ₽').fill('1500');
    const opened = browser!.context.waitForEvent('page');
    await page.getByTestId('topup').click();
    const payPage = await opened;
    await payPage.locator('button.pay').click();
    await payPage.locator('button.refund').waitFor();
    await payPage.close();
    await expect.poll(() => textOf('balance')).toMatch(/^1\s500\s₽$/);
    expect(await textOf('news')).toContain('Баланс пополнен: +1');
    expect(await page.getByTestId('pay-link').count()).toBe(0);
    await shoot(page, 'cabinet-3-topped-up');

    await page.getByRole('link', { name: 'Тарифы' }).click();
    await page.getByTestId('choose').first().click();
    await page.getByTestId('buy').click();
    await expect.poll(() => textOf('news')).toContain('Подписка активна');
    await page.getByRole('link', { name: 'Личный кабинет' }).click();
    await page.getByTestId('subscription-link').waitFor();
    const subscriptionUrl = await textOf('subscription-link');
    expect((await fetch(subscriptionUrl ?? '')).status).toBe(200);
    await expect.poll(() => textOf('balance')).not.toMatch(/^1\s500\s₽$/);
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    await shoot(page, 'cabinet-4-bought');
    expect(problems).toEqual([]);
  });

  it('adds a passkey and an authenticator app, signs in with either, and removes them', async ({ skip }) => {
    if (executable === null) skip('there is no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)');
    const cdp = await browser!.context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'usb', isUserVerified: true, hasUserVerification: true },
    });
    const card = page.getByTestId('second-factors');
    const signIn = async () => {
      await page.getByRole('button', { name: 'Выйти' }).click();
      await page.getByLabel('Эл. почта').fill(EMAIL);
      await page.getByLabel('Пароль').fill(PASSWORD);
      await page.locator('button[type=submit]').click();
      await page.getByTestId('second-step').waitFor();
    };
    await page.getByRole('link', { name: 'Аккаунт' }).click();

    // The link of a mail began the session: the password is asked for.
    await card.getByRole('button', { name: 'Добавить ключ доступа' }).click();
    await page.getByRole('dialog').getByLabel('Пароль').fill(PASSWORD);
    await page.getByRole('dialog').getByRole('button', { name: 'Подтвердить' }).click();
    await page.getByTestId('recovery-codes').waitFor();
    const codes = (await textOf('recovery-codes'))!.match(/(?:[a-z0-9]{4}-){3}[a-z0-9]{4}/g)!;
    expect(codes).toHaveLength(10);
    await card.getByRole('button', { name: 'Добавить приложение с кодами' }).click();
    const secret = OTPAuth.Secret.fromBase32((await textOf('totp-secret'))!);
    await card.getByLabel('Код').fill(new OTPAuth.TOTP({ secret }).generate());
    await card.getByRole('button', { name: 'Подтвердить' }).click();
    await expect.poll(() => card.getByRole('listitem').count()).toBe(2);
    await shoot(page, 'cabinet-second-factors');

    await signIn();
    await shoot(page, 'cabinet-second-step');
    await page.getByRole('button', { name: 'Войти ключом доступа' }).click();
    await page.getByTestId('balance').waitFor();
    await signIn();
    await page.getByLabel('Код').fill('abcd-efgh-jkmn-pqrs');
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Код').fill(codes[0]!);
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await page.getByTestId('balance').waitFor();

    await page.getByRole('link', { name: 'Аккаунт' }).click();
    for (const left of [1, 0]) {
      await card.getByRole('button', { name: 'Удалить' }).first().click();
      await expect.poll(() => card.getByRole('listitem').count()).toBe(left);
    }
    expect(problems).toEqual([]);
  });

  it('replaces a refused token once and goes on', async ({ skip }) => {
    if (executable === null) skip('there is no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)');
    const refreshes: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/cabinet/auth/refresh') && response.request().method() === 'POST')
        refreshes.push(response.status());
    });
    // On a page without the cabinet: an open cabinet sends calls with the refused token too, and a reload loses its refresh.
    await page.route('**/empty', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto(`${site.url}/empty`);
    await page.evaluate(`localStorage.setItem('cabinet.tokens',
      JSON.stringify({ ...JSON.parse(localStorage.getItem('cabinet.tokens')), accessToken: 'refused' }))`);
    await page.goto(site.url);
    await expect.poll(() => textOf('live')).toBe('на связи');
    await expect.poll(() => textOf('balance')).toMatch(/₽/);
    expect(refreshes).toEqual([200]);
    await page.getByRole('button', { name: 'Выйти' }).click();
    await page.getByLabel('Эл. почта').fill(EMAIL);
    await page.getByLabel('Пароль').fill('wrong password');
    await page.locator('button[type=submit]').click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Пароль').fill(PASSWORD);
    await page.locator('button[type=submit]').click();
    await page.getByTestId('balance').waitFor();
    expect(problems).toEqual([]);
  });

  it('shows the branding, the pages in both languages and a broadcast that arrives', async ({ skip }) => {
    if (executable === null) skip('there is no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)');
    const accessToken = await page.evaluate(`JSON.parse(localStorage.getItem('cabinet.tokens')).accessToken`);
    const asAdmin = { authorization: `Bearer ${accessToken}` };
    const asToken = { 'x-api-key': (await readFile(join(folder, 'data', 'api-token'), 'utf8')).trim() };
    const logo = new FormData();
    logo.append('file', new Blob([new Uint8Array(aPng(40, 20))], { type: 'image/png' }), 'logo.png');
    await call('PUT', '/cabinet/branding/name', asAdmin, { name: 'Рога & VPN' });
    await call('POST', '/cabinet/branding/logo', asAdmin, logo);
    await call('PATCH', '/cabinet/branding/colors', asAdmin, { accent: '#c2185b' });
    await call('PATCH', '/cabinet/branding/animation-config', asAdmin, { type: 'wavy', opacity: 0.4, blur: 3 });
    for (const [language, privacy, rules, question] of [
      ['ru', 'Мы ничего <b>не</b> храним.', 'Не передавайте ссылку.', 'Как подключиться?'],
      ['en', 'We <b>store</b> nothing.', 'Keep your link to yourself.', 'How do I connect?'],
    ]) {
      await call('PUT', '/pages/privacy-policy', asToken, { language, content: privacy, is_enabled: true });
      await call('PUT', '/pages/service-rules', asToken, { language, content: rules });
      await call('POST', '/pages/faq', asToken, { language, title: question, content: `<i>${question}</i> — /help` });
    }

    await page.reload();
    await expect.poll(() => textOf('brand')).toBe('Рога & VPN');
    expect(await page.title()).toBe('Рога & VPN');
    const image = page.getByTestId('brand').locator('img');
    await expect.poll(() => image.evaluate((element) => Reflect.get(element, 'naturalWidth'))).toBe(40);
    const accent = () => page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')");
    await expect.poll(accent).toBe('#c2185b');
    const backdrop = page.getByTestId('backdrop');
    expect(await backdrop.getAttribute('data-animation')).toBe('wavy');
    expect(await backdrop.getAttribute('style')).toMatch(/opacity: 0\.4.*blur\(3px\)/);
    await expect.poll(() => textOf('support')).toContain('@support');
    await shoot(page, 'cabinet-5-branding');

    const shown = async (name: string, text: string) => {
      await page.getByTestId(`info-${name}`).click();
      await expect.poll(() => textOf('info-page')).toContain(text);
    };
    await shown('privacy', 'Мы ничего не храним.');
    await shown('faq', 'Как подключиться?');
    await shown('rules', 'Не передавайте ссылку.');
    await page.getByRole('button', { name: 'English' }).click();
    await expect.poll(() => textOf('info-page')).toContain('Keep your link to yourself.');
    await shown('privacy', 'We store nothing.');
    await shown('faq', 'How do I connect?');
    await shoot(page, 'cabinet-6-pages');

    await call('POST', '/users', asToken, { messenger_id: 770_001, first_name: 'Boris' });
    await call('POST', '/broadcasts', asToken, { target: 'all', message_text: 'Завтра <b>новые</b> серверы' });
    const sandbox = await browser!.context.newPage();
    await sandbox.goto(`${service.url}/sandbox`);
    await sandbox.locator('#messages').getByText('новые').first().waitFor();
    expect(await sandbox.locator('#messages').textContent()).toContain('Chat 770001');
    await shoot(sandbox, 'sandbox-broadcast');
    await sandbox.close();
    expect(problems).toEqual([]);
  });
});
