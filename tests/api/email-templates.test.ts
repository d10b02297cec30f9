import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseSharedCache } from '../../src/core/cache/shared-cache.ts';
import { mailReset } from '../../src/domain/identity/email/mail-secrets.ts';
import { deliverMail, sendMail } from '../../src/domain/messaging/send-mail.ts';
import { TEMPLATE_TYPES, TEMPLATE_VARIABLES } from '../../src/domain/messaging/templates/template-variables.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { cachesStayFresh, eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { busOf } from '../support/test-bus.ts';
import { workerSandbox } from '../support/test-sandbox.ts';

const PATH = '/cabinet/admin/email-templates';
const LANGUAGES = ['ru', 'en', 'zh', 'ua', 'fa'];
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
beforeAll(async () => {
  t = await testApp({ environment: { SMTP_FROM_NAME: 'Shop & Co' } });
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['email_templates:read', 'email_templates:edit']);
});
afterEach(async () => {
  await t.app.db.sql('DELETE FROM email_templates RETURNING id');
  t.cache.clear();
});
afterAll(() => server.close());

const address = () => `mail${unique()}@example.com`;
const store = (type: string, language: string, subject: string, bodyHtml: string) =>
  admin.put(`${PATH}/${type}/${language}`, { subject, body_html: bodyHtml });

/** What a user of this language is sent when a top-up was credited. */
async function mailed(language: string, app = t.app) {
  const to = address();
  const params = { formatted_amount: '<500> ₽', formatted_balance: '{code}', amount_rubles: 500, new_balance_rubles: 900 };
  await sendMail(app, { to, language, type: 'balance_topup', params });
  const [mail] = await t.app.db.sql<{ id: number; subject: string; html: string; text: string }>(
    'SELECT id, subject, html, text FROM outgoing_mails WHERE recipient = $1',
    [to],
  );
  return { to, ...mail! };
}

async function inbox(to: string) {
  const { mail } = (await workerSandbox()).servers;
  return (await mail.list()).filter((message) => message.to === to);
}

describe('spec 05 section 11.2: the list of templates', () => {
  it('names each type in its order with labels, placeholders and languages', async () => {
    const { status, body } = await admin.get(PATH);
    expect(status).toBe(200);
    expect(body.available_languages).toEqual(LANGUAGES);
    expect(body.items.map(({ type }: { type: string }) => type)).toEqual([...TEMPLATE_TYPES]);
    for (const item of body.items) {
      expect(Object.keys(item.label).sort()).toEqual(['en', 'ru', 'ua', 'zh']);
      expect(new Set([...Object.values(item.label), ...Object.values(item.description)]).size).toBe(8);
      expect(Object.values(item.languages)).toEqual(LANGUAGES.map(() => ({ has_custom: false })));
    }
    expect(body.items.find(({ type }: { type: string }) => type === 'referral_bonus').context_vars).toEqual([
      'formatted_bonus',
      'bonus_rubles',
      'referral_name',
    ]);
    await store('traffic_reset', 'en', 'S', 'B');
    const changed = (await admin.get(PATH)).body.items.find(({ type }: { type: string }) => type === 'traffic_reset');
    expect(changed.languages).toMatchObject({ en: { has_custom: true }, ru: { has_custom: false } });
  });

  it.each(TEMPLATE_TYPES)('%s has a built-in text in every language, a whole page without any placeholder left', async (type) => {
    const { body } = await admin.get(`${PATH}/${type}`);
    expect(body).toMatchObject({ notification_type: type, context_vars: [...TEMPLATE_VARIABLES[type]] });
    expect(Object.keys(body.languages)).toEqual(LANGUAGES);
    for (const language of LANGUAGES) {
      const { subject, body_html, is_default, default_subject, default_body_html } = body.languages[language];
      expect([subject, body_html, is_default]).toEqual([default_subject, default_body_html, true]);
      expect(subject).not.toBe('');
      expect(body_html).toMatch(/^<!doctype html>/);
      expect(`${subject}${body_html.replace(/<style>.*?<\/style>/s, '')}`).not.toMatch(/\{\w+\}/);
    }
    expect(body.languages.en.subject).not.toMatch(/[а-я]/i);
    expect(body.languages.fa).toEqual(body.languages.ru);
  });

  it('answers a stored template as sent, beside the built-in text', async () => {
    const body_html = '<p onclick="x()">{formatted_amount}\r\n{nothing}</p>';
    const saved = await store('balance_topup', 'en', 'Paid {formatted_amount}', body_html);
    const template = {
      notification_type: 'balance_topup',
      language: 'en',
      subject: 'Paid {formatted_amount}',
      body_html,
      is_active: true,
    };
    expect(saved.body).toEqual({ status: 'ok', template });
    const { languages } = (await admin.get(`${PATH}/balance_topup`)).body;
    expect(languages.en).toMatchObject({ subject: template.subject, body_html, is_default: false });
    expect(languages.en.default_subject).toContain('500.00');
    expect(languages.ru.is_default).toBe(true);
  });
});

describe('spec 05 section 11.2: a stored template', () => {
  it('is in the next mail to users of its language, and gone after its deletion', async () => {
    const before = await mailed('en');
    expect(before.subject).toContain('<500> ₽');
    await store('balance_topup', 'en', 'Got {formatted_amount}', '<p>Now {formatted_balance} of {unknown}, {amount_rubles}</p>');
    const after = await mailed('en-GB');
    expect(after.subject).toBe('Got <500> ₽');
    expect(after.html).toContain('<p>Now {code} of {unknown}, 500</p>');
    expect(after.html).toContain('Shop &amp; Co');
    expect(after.text).toBe('Now {code} of {unknown}, 500');
    expect((await mailed('ru')).subject).not.toContain('Got');
    await deliverMail(t.app, { mailId: after.id });
    expect(await inbox(after.to)).toMatchObject([{ subject: 'Got <500> ₽', text: after.text }]);

    expect((await admin.delete(`${PATH}/balance_topup/en`)).body).toEqual({ status: 'ok', was_custom: true });
    expect((await admin.delete(`${PATH}/balance_topup/en`)).body).toEqual({ status: 'ok', was_custom: false });
    expect((await mailed('en')).subject).toBe(before.subject);
  });

  it.each([
    ['zh-CN', 'zh'],
    ['uk', 'ua'],
    ['fa', 'fa'],
    ['de', 'ru'],
  ])('is found for users with the language %s under %s', async (language, stored) => {
    await store('balance_topup', stored, `Own ${stored}`, 'x');
    expect((await mailed(language)).subject).toBe(`Own ${stored}`);
  });

  it('replaces itself when it is sent again', async () => {
    await Promise.all([1, 2, 3].map((n) => store('balance_topup', 'ru', `Subject ${n}`, 'x')));
    await store('balance_topup', 'ru', 'Last', 'y');
    expect((await mailed('ru')).subject).toBe('Last');
    expect(await t.app.db.sql('SELECT language FROM email_templates')).toHaveLength(1);
  });

  it('applies on the other instances by its notice', async () => {
    const cache = new DatabaseSharedCache();
    const unfollow = cache.follow(await busOf(t.database));
    const other = { ...t.app, cache };
    await mailed('en', other);
    await store('balance_topup', 'en', 'Everywhere', 'x');
    cachesStayFresh();
    await eventually(async () => expect((await mailed('en', other)).subject).toBe('Everywhere'));
    unfollow();
  });

  it.each([
    ['an empty page', 'Subject', '<div>  </div>'],
    ['only a style', 'Subject', '<style>p { color: red }</style>'],
    ['a subject of line breaks', '\r\n', '<p>Text</p>'],
  ])('of %s does not stop the mail: it has our text', async (_what, subject, bodyHtml) => {
    const ours = await mailed('en');
    expect((await store('balance_topup', 'en', subject, bodyHtml)).status).toBe(200);
    expect(await mailed('en')).toMatchObject({ subject: ours.subject, text: ours.text });
  });

  it('that leaves out what the mail is for gets it added', async () => {
    await store('password_reset', 'en', 'Reset', '<html><body><p>Hello {username}</p></BODY></html>');
    const to = address();
    const secret = { text: 'ab&"12', hash: '', expiresAt: t.clock.now() };
    const user = { id: 1, firstName: 'Ann', lastName: null, username: null, messengerId: null, email: to, language: 'en' };
    await mailReset(t.app, user as never, to, secret);
    const [mail] = await t.app.db.sql<{ html: string; text: string }>(
      'SELECT html, text FROM outgoing_mails WHERE recipient = $1',
      [to],
    );
    expect(mail!.html).toMatch(
      /^<html><body><p>Hello Ann<\/p><p><a href="https:\/\/cabinet\.example\.com\/reset-password\?token=/,
    );
    expect(mail!.html).toMatch(/<\/p><\/BODY><\/html>$/);
    expect(mail!.text.match(/reset-password/g)).toHaveLength(1);
  });

  it('cannot add header lines, scripts of values or code', async () => {
    await store(
      'warning_notification',
      'en',
      'A\r\nBcc: x@example.com {message}',
      '<p>{message} {constructor} {{message}} {1+1} $x</p>',
    );
    const to = address();
    await sendMail(t.app, {
      to,
      language: 'en',
      type: 'warning_notification',
      params: { message: '<script>1</script>\r\nCc: y' },
    });
    const [mail] = await t.app.db.sql<{ subject: string; html: string }>(
      'SELECT subject, html FROM outgoing_mails WHERE recipient = $1',
      [to],
    );
    expect(mail!.subject).toBe('A Bcc: x@example.com <script>1</script> Cc: y');
    expect(mail!.html).toContain('&lt;script&gt;1&lt;/script&gt;\r\nCc: y {constructor} {&lt;script&gt;');
    expect(mail!.html).toContain('{1+1} $x');
    expect(mail!.html).not.toContain('<script');
  });
});

describe('spec 05 section 11.2: preview', () => {
  const preview = async (type: string, body: object) => (await admin.post(`${PATH}/${type}/preview`, body)).body;

  it('shows the built-in text without a body, also where there is a template', async () => {
    await store('referral_bonus', 'en', 'Own', 'Own');
    expect((await preview('referral_bonus', { language: 'en' })).subject).toBe('You received a bonus of 50.00 ₽');
    expect((await preview('referral_bonus', { language: 'xx' })).subject).toBe('Вам начислен бонус 50.00 ₽');
    expect((await preview('referral_bonus', {})).subject).toBe('Вам начислен бонус 50.00 ₽');
  });

  it('fills a body with example values, and stores nothing', async () => {
    const shown = await preview('referral_bonus', { language: 'en', body_html: '<p>{formatted_bonus} from {referral_name}</p>' });
    expect(shown.subject).toBe('referral_bonus');
    expect(shown.body_html).toContain('<p>50.00 ₽ from Maria</p>');
    expect(shown.body_html).toContain('This is an automated message');
    expect(await t.app.db.sql('SELECT id FROM email_templates')).toEqual([]);
  });

  it.each(['x', '<!DOCTYPE html><html><head><script>1</script></head>', '<html>x', '<style>a{}</style>x'])(
    'of %s begins with a policy that runs nothing',
    async (body_html) => {
      const { body_html: page } = await preview('traffic_reset', { body_html });
      expect(page.replace(/^\s*<!doctype[^>]*>/i, '')).toMatch(
        /^<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src/,
      );
    },
  );
});

describe('spec 05 section 11.2: test mail', () => {
  const test = (type: string, body: object, client = admin) => client.post(`${PATH}/${type}/test`, body);
  const newAdmin = () => adminClient(t.app, server, ['email_templates:edit']);

  it('sends what users get, with example values, to the address or to the administrator', async () => {
    const email = address();
    expect((await test('autopay_failed', { language: 'en', email: ` ${email.toUpperCase()} ` })).body).toEqual({
      status: 'ok',
      sent_to: email,
    });
    await store('autopay_failed', 'en', 'Own {reason}', '<p>Own {reason}</p>');
    await test('autopay_failed', { language: 'en', email });
    await test('autopay_failed', { language: 'nowhere', email });
    expect((await inbox(email)).map(({ subject }) => subject)).toEqual([
      '[TEST] Автопродление невозможно',
      '[TEST] Own Example reason',
      '[TEST] Automatic renewal is not possible',
    ]);
    const adminEmail = address();
    const other = await newAdmin();
    await t.app.db.sql('UPDATE users SET email = $2 WHERE id = $1::int', [other.user.id, adminEmail]);
    expect((await test('autopay_failed', {}, other)).body).toEqual({ status: 'ok', sent_to: adminEmail });
    expect(await inbox(adminEmail)).toHaveLength(1);
  });

  it('refuses an administrator without an address, a wrong address, and the sixth in a minute', async () => {
    const other = await newAdmin();
    expect(await test('autopay_failed', {}, other)).toMatchObject({
      status: 400,
      body: { detail: 'No email address provided and admin has no email' },
    });
    expect((await test('autopay_failed', { email: 'nobody' }, other)).status).toBe(422);
    expect((await test('autopay_failed', { email: 'a@b.example\r\nBcc: c@d.example' }, other)).status).toBe(422);
    const email = address();
    for (let sent = 0; sent < 5; sent++) expect((await test('autopay_failed', { email }, other)).status).toBe(200);
    const sixth = await test('autopay_failed', { email }, other);
    expect(sixth.status).toBe(429);
    expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(0);
    expect(await inbox(email)).toHaveLength(5);
  });

  it('says when mail is not configured or cannot be sent, without the error of the server', async () => {
    const { mail } = t.app.ports;
    const away = { ...mail, isConfigured: () => true, send: async () => Promise.reject(new Error('smtp.internal refused')) };
    const broken = await testServer({ ...t.app, ports: { ...t.app.ports, mail: away } });
    const none = await testServer({ ...t.app, ports: { ...t.app.ports, mail: { ...away, isConfigured: () => false } } });
    const [first, second] = await Promise.all([broken, none].map((one) => adminClient(t.app, one, ['email_templates:edit'])));
    const failed = await test('autopay_failed', { email: address() }, first!);
    expect(failed).toMatchObject({ status: 500, body: { detail: 'Failed to send test email' } });
    expect(failed.text).not.toContain('smtp.internal');
    expect(await test('no_such', {}, second!)).toMatchObject({ status: 400, body: { detail: 'SMTP is not configured' } });
    await Promise.all([broken.close(), none.close()]);
  });
});

describe('spec 05 section 11.2: refusals', () => {
  it('does not know other types, before anything else', async () => {
    const detail = 'Unknown template type: nothing';
    const body = { subject: 'S', body_html: 'B' };
    for (const reply of await Promise.all([
      admin.get(`${PATH}/nothing`),
      admin.put(`${PATH}/nothing/xx`, body),
      admin.delete(`${PATH}/nothing/ru`),
      admin.post(`${PATH}/nothing/preview`, {}),
      admin.post(`${PATH}/nothing/test`, { email: address() }),
      // Built-in mails without a place in the list.
      admin.get(`${PATH}/withdrawal_approved`),
      admin.get(`${PATH}/constructor`),
    ])) {
      expect(reply.status).toBe(404);
      expect(reply.body.detail).toMatch(/^Unknown template type: /);
    }
    expect((await admin.get(`${PATH}/nothing`)).body).toEqual({ detail });
  });

  it('stores only the five languages, and forgets any', async () => {
    expect(await admin.put(`${PATH}/balance_topup/de`, { subject: 'S', body_html: 'B' })).toMatchObject({
      status: 400,
      body: { detail: "Invalid language: de. Available: ['ru', 'en', 'zh', 'ua', 'fa']" },
    });
    expect((await admin.delete(`${PATH}/balance_topup/${encodeURIComponent('любой \0 язык')}`)).body).toEqual({
      status: 'ok',
      was_custom: false,
    });
  });

  it.each([
    [{ subject: '', body_html: 'B' }, 'subject'],
    [{ subject: 'S'.repeat(501), body_html: 'B' }, 'subject'],
    [{ subject: 'S', body_html: '' }, 'body_html'],
    [{ subject: 'S' }, 'body_html'],
  ])('checks %j', async (body, field) => {
    const reply = await admin.put(`${PATH}/balance_topup/ru`, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(['body', field]);
  });

  it('needs the permission to edit for what changes or sends', async () => {
    const reader = await adminClient(t.app, server, ['email_templates:read']);
    expect((await reader.post(`${PATH}/balance_topup/preview`, {})).status).toBe(200);
    expect((await reader.put(`${PATH}/balance_topup/ru`, { subject: 'S', body_html: 'B' })).status).toBe(403);
    expect((await reader.delete(`${PATH}/balance_topup/ru`)).status).toBe(403);
    expect((await reader.post(`${PATH}/balance_topup/test`, { email: address() })).status).toBe(403);
  });
});
