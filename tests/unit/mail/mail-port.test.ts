import { afterEach, describe, expect, it } from 'vitest';
import { startMailSandbox } from '../../../packages/sandbox/src/mail/mail-sandbox.ts';
import type { Mail } from '../../../src/domain/messaging/ports.ts';
import { createMailPort, type MailConnection, type SmtpConnection } from '../../../src/integrations/mail/mail-port.ts';
import { memoryStore, onceHttp } from '../../support/loopback-http.ts';
import { startSmtpServer } from './smtp-server.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const MAIL: Mail = { to: 'ann@example.org', subject: 'Привет', html: '<p>Hello</p>', text: 'Hello' };

function portFor(connection: MailConnection | null) {
  const port = createMailPort({ http: onceHttp(), connection: () => connection });
  open.unshift(port);
  return port;
}

async function smtp(server: Parameters<typeof startSmtpServer>[0] = {}, change: Partial<SmtpConnection> = {}) {
  const smtpServer = await startSmtpServer(server);
  open.push(smtpServer);
  const port = portFor({
    kind: 'smtp',
    host: '127.0.0.1',
    port: smtpServer.port,
    user: null,
    password: null,
    fromEmail: 'no-reply@vpn.example',
    fromName: 'Служба',
    useTls: false,
    tls: { implicitPort: 465, allowsSelfSigned: false },
    ...change,
  });
  return { server: smtpServer, port };
}

describe('mail over SMTP', () => {
  it('sends both parts with encoded names, date and an id of the from-domain, over one pooled connection', async () => {
    const { server, port } = await smtp();
    await port.send(MAIL);
    await port.send({ ...MAIL, to: 'bob@example.org' });
    expect(server.connections()).toBe(1);
    expect(server.mails.map(({ from, to }) => [from, to])).toEqual([
      ['<no-reply@vpn.example>', ['<ann@example.org>']],
      ['<no-reply@vpn.example>', ['<bob@example.org>']],
    ]);
    const data = server.mails[0]?.data ?? '';
    expect(data).toMatch(/^From: =\?UTF-8\?\S+\?= <no-reply@vpn\.example>\r$/m);
    expect(data).toMatch(/^Subject: =\?UTF-8\?\S+\?=\r$/m);
    expect(data).toMatch(/^Message-ID: <[^@\s]+@vpn\.example>\r$/m);
    expect(data).toMatch(/^Date: /m);
    expect(data).toContain('multipart/alternative');
    expect(data.indexOf('text/plain')).toBeLessThan(data.indexOf('text/html'));
  });

  it('spec 10 O2: sends the header fields of a mail beside its own', async () => {
    const { server, port } = await smtp();
    const link = 'https://shop.example/unsubscribe/1.2.AAAAAAAAAAAAAAAAAAAAAA';
    const headers = { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
    await port.send({ ...MAIL, headers });
    const sent = server.mails[0]!.data.replaceAll('\r\n ', ' ');
    expect(sent).toContain(`List-Unsubscribe: <${link}>\r\n`);
    expect(sent).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
  });

  it('signs in only where the server offers it', async () => {
    const credentials = { user: 'u', password: 'p' };
    const without = await smtp({}, credentials);
    await without.port.send(MAIL);
    expect(without.server.commands.some((line) => line.startsWith('AUTH'))).toBe(false);
    const offering = await smtp({ extensions: ['AUTH PLAIN'] }, credentials);
    await offering.port.send(MAIL);
    expect(offering.server.commands.some((line) => line.startsWith('AUTH PLAIN'))).toBe(true);
  });

  it('sends nothing without TLS when it is required and not offered', async () => {
    const { server, port } = await smtp({}, { useTls: true, user: 'u', password: 'secret-password' });
    await expect(port.send(MAIL)).rejects.toMatchObject({ name: 'MailError', failure: 'unavailable' });
    expect(server.mails).toHaveLength(0);
    expect(server.commands.join('\n')).not.toMatch(/AUTH|MAIL/);
  });

  it('does not let a value add headers', async () => {
    const { server, port } = await smtp({}, { fromName: 'Shop\r\nBcc: x@evil.example' });
    await port.send({ ...MAIL, subject: 'Hi\r\nBcc: y@evil.example\r\n\r\nbody' });
    expect(server.mails[0]?.data).not.toMatch(/^Bcc:/im);
    expect(server.mails[0]?.to).toEqual(['<ann@example.org>']);
    await expect(port.send({ ...MAIL, to: 'ann@example.org\r\nbob@example.org' })).rejects.toMatchObject({ failure: 'rejected' });
    await expect(port.send({ ...MAIL, to: 'ann@example.org, bob@example.org' })).rejects.toMatchObject({ failure: 'rejected' });
    expect(server.mails).toHaveLength(1);
  });

  it.each([
    ['550 no such user', 'rejected'],
    ['451 try later', 'put_off'],
  ])('%s is %s', async (rejectRcpt, failure) => {
    const { port } = await smtp({ rejectRcpt });
    await expect(port.send(MAIL)).rejects.toMatchObject({ failure });
  });

  it('is unavailable when no server listens', async () => {
    const { server, port } = await smtp();
    await server.close();
    await expect(port.send(MAIL)).rejects.toMatchObject({ failure: 'unavailable', mayHaveArrived: false });
  });

  it('sends over a new connection where the server has ended the pooled one', async () => {
    const { server, port } = await smtp();
    await port.send(MAIL);
    server.endConnections();
    await port.send(MAIL);
    expect(server.mails).toHaveLength(2);
    expect(server.connections()).toBe(2);
  });

  it.each([
    ['ends every connection before its greeting', { breaksAt: 'greeting' }, false],
    ['breaks before it has the mail', { breaksAt: 'RCPT' }, false],
    ['breaks when it has the mail', { breaksAt: 'content' }, true],
    ['refuses the mail for now', { answer: '451 try later' }, false],
  ] as const)(
    'a server that %s is unavailable, and whether the mail may have arrived is %s',
    async (_what, server, mayHaveArrived) => {
      const { port } = await smtp(server);
      await expect(port.send(MAIL)).rejects.toMatchObject({ failure: 'unavailable', mayHaveArrived });
    },
  );
});

describe('mail into the sandbox', () => {
  it('arrives in the mailbox and stays there after a restart', async () => {
    const options = { store: memoryStore(), now: () => new Date('2026-03-01T10:00:00.000Z') };
    const sandbox = await startMailSandbox(options);
    const connection: MailConnection = {
      kind: 'sandbox',
      baseUrl: sandbox.server.url,
      fromEmail: 'a@b.example',
      fromName: 'Shop',
    };
    const port = portFor(connection);
    await Promise.all([port.send(MAIL), port.send({ ...MAIL, subject: 'two' })]);
    await sandbox.close();
    await expect(port.send(MAIL)).rejects.toMatchObject({ failure: 'unavailable' });

    const again = await startMailSandbox(options);
    open.push(again);
    const listed = await onceHttp().request({ method: 'GET', url: `${again.server.url}/messages` });
    expect(JSON.parse(listed.text)).toMatchObject([
      { id: 2 },
      { id: 1, to: MAIL.to, from: 'Shop <a@b.example>', text: MAIL.text },
    ]);
  });

  it('is not configured without a connection', async () => {
    const port = portFor(null);
    expect(port.isConfigured()).toBe(false);
    await expect(port.send(MAIL)).rejects.toMatchObject({ failure: 'not_configured' });
  });
});
