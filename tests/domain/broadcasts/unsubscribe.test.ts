import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { readBroadcast } from '../../../src/domain/broadcasts/broadcasts.ts';
import { unsubscribe, unsubscribeLinks } from '../../../src/domain/broadcasts/unsubscribe.ts';
import type { Mail } from '../../../src/domain/messaging/ports.ts';
import { clientOf, testServer } from '../../support/api.ts';
import { aSegment } from '../../support/audience-samples.ts';
import { aMailing, delivered, FAST } from '../../support/broadcast-samples.ts';
import { unique } from '../../support/builders.ts';
import { setUser } from '../../support/merge-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const PUBLIC = 'https://shop.example';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: { ...FAST, WEBHOOK_URL: `${PUBLIC}/` } });
});

/** Readers with a verified address, in the order of their ids, and a mail server that calls `receive` before it accepts a mail. */
async function readers(count: number, receive: (mail: Mail) => Promise<void> = async () => undefined, base: App = t.app) {
  // Mailings of this file go to the readers of one test only.
  await base.db.sql("UPDATE users SET email_verified = false WHERE email LIKE '%@readers.example'");
  const { users } = await aSegment(base, count);
  for (const user of users) {
    await setUser(base, user.id, { email: `r${unique()}@readers.example`, email_verified: true, language: 'en' });
  }
  const mails: Mail[] = [];
  const mail = {
    ...base.ports.mail,
    isConfigured: () => true,
    send: async (one: Mail) => {
      if (!one.to.endsWith('@readers.example')) return;
      mails.push(one);
      await receive(one);
    },
  };
  return { users, mails, app: { ...base, ports: { ...base.ports, mail } } };
}

const linkOf = (mail: Mail) => /<(.+)>/.exec(mail.headers!['List-Unsubscribe']!)![1]!;
const tokenOf = (mail: Mail) => linkOf(mail).split('/').at(-1)!;
const newsOf = async (userId: number) =>
  (
    await t.app.db.sql<{ news: unknown }>("SELECT notification_settings->'news_enabled' AS news FROM users WHERE id = $1::int", [
      userId,
    ])
  )[0]!.news;

describe('spec 10 O2: a broadcast by e-mail', () => {
  test.each([
    ['a fragment', '<p>Hello</p>', /^<p>Hello<\/p>\n<p [^>]+>You get this mail .+<\/p>$/],
    [
      'a whole page',
      '<html><body><p>Hello</p></body></html>',
      /^<html><body><p>Hello<\/p><p [^>]+>You get .+<\/p>\n<\/body><\/html>$/,
    ],
  ])('that is %s has the way out in header fields, HTML and text', async (_form, emailHtmlContent, html) => {
    const { app, mails } = await readers(1);
    await delivered(app, await aMailing(app, 'all_email', { emailHtmlContent }));
    const [mail] = mails;
    const link = linkOf(mail!);
    expect(link).toMatch(/^https:\/\/shop\.example\/unsubscribe\/\d+\.\d+\.[\w-]{22}$/);
    expect(mail!.headers).toEqual({ 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' });
    expect(mail!.html).toMatch(html);
    expect(mail!.html).toContain(`<a href="${link}">Unsubscribe</a>`);
    expect(mail!.text).toContain(`Unsubscribe: ${link}`);
  });

  test('is unsubscribed from by one POST without a sign-in, counted once, and not by opening the link', async () => {
    const { app, mails, users } = await readers(1);
    const broadcast = await aMailing(app, 'all_email');
    await delivered(app, broadcast);
    const client = clientOf(await testServer(app));
    const path = linkOf(mails[0]!).slice(PUBLIC.length);
    const opened = await client.get(path, { headers: { 'accept-language': 'ru' } });
    expect(opened.status).toBe(200);
    expect(opened.text).toContain(`<form method="post" action="${path}"><button>Отписаться</button></form>`);
    expect(opened.headers['content-security-policy']).toContain("form-action 'self'");
    expect(opened.headers['referrer-policy']).toBe('no-referrer');
    expect(await newsOf(users[0]!.id)).toBeNull();

    const server = await testServer(app);
    const bodies = [
      ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
      [
        'multipart/form-data; boundary=b',
        '--b\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
      ],
      ['application/x-www-form-urlencoded', ''],
    ] as const;
    for (const [type, payload] of bodies) {
      const reply = await server.inject({ method: 'POST', url: path, headers: { 'content-type': type }, payload });
      expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(reply.body).toContain('You get no more news.');
    }
    expect(await newsOf(users[0]!.id)).toBe(false);
    expect(await readBroadcast(app, broadcast.id)).toMatchObject({ sentCount: expect.any(Number), unsubscribedCount: 1 });
    await server.close();
  });

  test('does not reach who switched off news after the preparation', async () => {
    let done = false;
    const { app, mails, users } = await readers(3, async (mail) => {
      if (done) return;
      done = true;
      const sendId = Number(tokenOf(mail).split('.')[0]);
      await unsubscribe(app, (await unsubscribeLinks(app, sendId))!(users[2]!.id).split('/').at(-1)!);
    });
    // One recipient at a time.
    const slow = { ...app, env: { ...app.env, broadcastMailsPerSecond: 2 } };
    const broadcast = await aMailing(slow, 'all_email');
    const result = await delivered(slow, broadcast);
    expect(mails).toHaveLength(2);
    expect(result.unsubscribedCount).toBe(1);
    const [row] = await app.db.sql<{ state: string }>(
      `SELECT r.state FROM mass_send_recipients r JOIN mass_sends m ON m.id = r.send_id
       WHERE m.kind = 'broadcast' AND m.source_id = $1::int AND r.user_id = $2::int`,
      [broadcast.id, users[2]!.id],
    );
    expect(row).toEqual({ state: 'failed' });
  });

  test('has no link without a public address, and the log says why', async () => {
    const { app: made } = await testApp({ environment: FAST });
    const instance = { ...made.ports.instance, sandboxKinds: () => [] };
    const bare = { ...made, ports: { ...made.ports, instance } };
    const warnings: unknown[] = [];
    const log = { ...bare.log, warn: (...line: unknown[]) => warnings.push(line.at(-1)) } as unknown as App['log'];
    const { app, mails } = await readers(1, undefined, bare);
    await delivered({ ...app, log }, await aMailing(app, 'all_email'));
    expect(mails).toMatchObject([{ html: '<p>Hello</p>', text: 'Hello' }]);
    expect(mails[0]).not.toHaveProperty('headers');
    expect(warnings).toContain('mails of a broadcast have no link to unsubscribe: WEBHOOK_URL is not set');
  });
});

describe('spec 10 O2: a link that is none of the service', () => {
  test.each([
    ['of another recipient', (token: string, other: number) => token.replace(/\.\d+\./, `.${other}.`)],
    ['of another broadcast', (token: string) => token.replace(/^\d+/, (id) => String(Number(id) + 1))],
    ['with another signature', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['cut off', (token: string) => token.slice(0, -1)],
    ['of numbers that no row has', () => `99999999999.1.${'A'.repeat(22)}`],
    ['of markup', () => encodeURIComponent('"><script>alert(1)</script>')],
    ['of bytes that are no text', () => '%ff%00'],
  ])('%s gets a clear page and changes nothing', async (_what, change) => {
    const { app, mails, users } = await readers(2);
    await delivered(app, await aMailing(app, 'all_email'));
    const server = await testServer(app);
    const url = `/unsubscribe/${change(tokenOf(mails[0]!), users[1]!.id)}`;
    for (const method of ['GET', 'POST'] as const) {
      const reply = await server.inject({ method, url, headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } });
      expect(reply.statusCode, method).toBeGreaterThanOrEqual(400);
      expect(reply.statusCode, method).toBeLessThan(500);
      if (reply.statusCode === 404) expect(reply.body).toContain('This link is not valid.');
      expect(reply.body).not.toContain('<script');
    }
    for (const { id } of users) expect(await newsOf(id)).toBeNull();
    await server.close();
  });

  test('of an account that is gone answers like any other', async () => {
    const { app, mails, users } = await readers(1);
    await delivered(app, await aMailing(app, 'all_email'));
    await app.db.sql('DELETE FROM users WHERE id = $1::int', [users[0]!.id]);
    expect(await unsubscribe(app, tokenOf(mails[0]!))).toBe(true);
  });
});
