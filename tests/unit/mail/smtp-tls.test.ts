/** Real TLS connections to a mail server with a certificate of its own (spec 05 section 11.1). */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadEnv } from '../../../src/core/env.ts';
import { smtpTlsOptions } from '../../../src/domain/messaging/smtp-tls.ts';
import { createMailPort, type SmtpConnection } from '../../../src/integrations/mail/mail-port.ts';
import { onceHttp } from '../../support/loopback-http.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { type SmtpServer, startSmtpServer } from './smtp-server.ts';

const MAIL = { to: 'ann@example.org', subject: 'Hi', html: '<p>Hello</p>', text: 'Hello' };
const open: { close(): Promise<void> | void }[] = [];
let certificate: { key: string; cert: string };
beforeAll(() => {
  certificate = selfSigned('localhost');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function aServer(kind: 'implicit' | 'starttls'): Promise<SmtpServer> {
  const isImplicit = kind === 'implicit';
  const server = await startSmtpServer({
    extensions: isImplicit ? ['AUTH PLAIN'] : ['STARTTLS', 'AUTH PLAIN'],
    tls: { ...certificate, isImplicit },
  });
  open.push(server);
  return server;
}

/** @param implicitPort the port of implicit TLS; null = that of the server */
async function send(server: SmtpServer, allowsSelfSigned: boolean, implicitPort: number, useTls = true): Promise<void> {
  const connection: SmtpConnection = {
    kind: 'smtp',
    host: 'localhost',
    port: server.port,
    user: 'u',
    password: 'secret-password',
    useTls,
    fromEmail: 'no-reply@vpn.example',
    fromName: 'Service',
    tls: { implicitPort, allowsSelfSigned },
  };
  const port = createMailPort({ http: onceHttp(), connection: () => connection });
  open.unshift(port);
  await port.send(MAIL);
}

describe('TLS from the first byte', () => {
  test('a self-signed certificate is refused, and nothing is said to the server', async () => {
    const server = await aServer('implicit');
    await expect(send(server, false, server.port)).rejects.toMatchObject({ name: 'MailError', failure: 'unavailable' });
    expect([server.mails, server.commands]).toEqual([[], []]);
  });

  test('is accepted when that is allowed, with everything encrypted, whatever is said about STARTTLS', async () => {
    const server = await aServer('implicit');
    await send(server, true, server.port, false);
    expect(server.mails).toHaveLength(1);
    expect(server.commands.every((line) => line.startsWith('TLS '))).toBe(true);
    expect(server.commands.some((line) => line.startsWith('TLS AUTH PLAIN'))).toBe(true);
  });
});

describe('STARTTLS', () => {
  test('a self-signed certificate is refused before the sign-in', async () => {
    const server = await aServer('starttls');
    await expect(send(server, false, 465)).rejects.toMatchObject({ name: 'MailError', failure: 'unavailable' });
    expect(server.mails).toEqual([]);
    expect(server.commands.join('\n')).not.toMatch(/AUTH|MAIL/);
    expect(server.commands).toContain('STARTTLS');
  });

  test('is accepted when that is allowed, with sign-in and mail encrypted', async () => {
    const server = await aServer('starttls');
    await send(server, true, 465);
    expect(server.mails).toHaveLength(1);
    expect(server.commands.filter((line) => !line.startsWith('TLS ')).map((line) => line.split(' ')[0])).toEqual([
      'EHLO',
      'STARTTLS',
    ]);
    expect(server.commands.some((line) => line.startsWith('TLS MAIL'))).toBe(true);
  });
});

test('certificates are verified by default, 465 is implicit, 587 requires STARTTLS', () => {
  const { smtpTls: tls } = loadEnv({ NODE_ENV: 'test' });
  expect(smtpTlsOptions({ port: 465, useTls: false, tls })).toMatchObject({ secure: true, tls: { rejectUnauthorized: true } });
  expect(smtpTlsOptions({ port: 587, useTls: true, tls })).toMatchObject({
    secure: false,
    requireTLS: true,
    ignoreTLS: false,
    tls: { rejectUnauthorized: true },
  });
  expect(smtpTlsOptions({ port: 25, useTls: false, tls })).toMatchObject({ secure: false, requireTLS: false, ignoreTLS: true });
  const other = loadEnv({ NODE_ENV: 'test', SMTP_IMPLICIT_TLS_PORT: '2465', SMTP_ALLOW_SELF_SIGNED: 'true' }).smtpTls;
  expect(smtpTlsOptions({ port: 2465, useTls: true, tls: other })).toMatchObject({
    secure: true,
    tls: { rejectUnauthorized: false },
  });
});
