import nodemailer from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import { type Mail, MailError } from '../../domain/messaging/ports.ts';
import type { SmtpConnection } from './connection.ts';

const TIMEOUT_MS = 30_000;
const IMPLICIT_TLS_PORT = 465;

/** Pool options of a connection (spec 05 section 11.1). */
function poolOptions(connection: SmtpConnection): SMTPPool.Options {
  const secure = connection.port === IMPLICIT_TLS_PORT;
  return {
    pool: true,
    host: connection.host,
    port: connection.port,
    secure,
    requireTLS: !secure && connection.useTls,
    ignoreTLS: !secure && !connection.useTls,
    // The transport signs in only if the server offers AUTH.
    ...(connection.user && connection.password ? { auth: { user: connection.user, pass: connection.password } } : {}),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    maxConnections: 4,
    maxMessages: 100,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Sends over pooled connections; the pool is rebuilt when the settings change. */
export class SmtpSender {
  #pool: { key: string; transport: nodemailer.Transporter<SMTPPool.SentMessageInfo> } | null = null;

  /** @throws MailError */
  async send(connection: SmtpConnection, mail: Mail): Promise<void> {
    try {
      await this.#transport(connection).sendMail({
        from: { name: connection.fromName, address: connection.fromEmail },
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
      });
    } catch (error) {
      throw new MailError(failureOf(error), 'The mail server did not accept the mail', { cause: error });
    }
  }

  close(): void {
    this.#pool?.transport.close();
    this.#pool = null;
  }

  #transport(connection: SmtpConnection): nodemailer.Transporter<SMTPPool.SentMessageInfo> {
    const key = JSON.stringify(connection);
    if (this.#pool?.key !== key) {
      this.close();
      this.#pool = { key, transport: nodemailer.createTransport(poolOptions(connection)) };
    }
    return this.#pool.transport;
  }
}

/** A 5xx about this mail or its envelope is final; errors of sign-in and connection may be temporary. */
function failureOf(error: unknown): 'rejected' | 'unavailable' {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  const aboutMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  return aboutMail && (responseCode === undefined || responseCode >= 500) ? 'rejected' : 'unavailable';
}
