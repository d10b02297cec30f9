import { Readable } from 'node:stream';
import type { MailMessage, SendMailOptions, SMTPPoolOptions, SMTPPoolSentMessageInfo, Transporter } from 'nodemailer';
import { type HttpClient, isCertainlyUnsent, OutboundError } from '../../core/http/http-client.ts';
import { NO_TRACING, type Tracing } from '../../core/telemetry/tracing.ts';
import { type Mail, MailError, type MailFailure, type MailPort } from '../../domain/messaging/ports.ts';
import { type SmtpSecurity, smtpTlsOptions } from '../../domain/messaging/smtp-tls.ts';

export interface MailOptions {
  /** Used for the sandbox's mailbox only. */
  http: HttpClient;
  /** Read on every mail; null = nothing configured. */
  connection: () => MailConnection | null;
  tracing?: Tracing | undefined;
}

/** Mail over SMTP or into the sandbox's mailbox, by the kind of the connection (spec 05 section 11.1). */
export function createMailPort({ http, connection, tracing }: MailOptions): MailPort {
  const smtp = new SmtpSender(tracing);
  return {
    isConfigured: () => connection() !== null,
    send: async (mail) => {
      const current = connection();
      if (!current) throw new MailError('not_configured', 'Mail is not configured');
      const clean: Mail = { ...mail, to: oneLine(mail.to), subject: oneLine(mail.subject) };
      if (!/^[^\s@<>,;]+@[^\s@<>,;]+$/.test(clean.to))
        throw new MailError('rejected', 'The recipient is not a single e-mail address');
      const from = { fromEmail: oneLine(current.fromEmail), fromName: oneLine(current.fromName) };
      if (current.kind === 'smtp') await smtp.send({ ...current, ...from }, clean);
      else await sendToSandbox(http, { ...current, ...from }, clean);
    },
    close: () => smtp.close(),
  };
}

/** Prevents header injection: a value of a header must not contain a line break. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').trim();
}

async function sendToSandbox(http: HttpClient, connection: SandboxMailConnection, mail: Mail): Promise<void> {
  try {
    const response = await http.request({
      method: 'POST',
      url: `${connection.baseUrl}/messages`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...mail, from: `${connection.fromName} <${connection.fromEmail}>` }),
      idempotent: false,
    });
    if (response.status !== 200) {
      throw new MailError(response.status >= 500 ? 'unavailable' : 'rejected', `The mailbox answered ${response.status}`);
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const mayHaveArrived = !isCertainlyUnsent(error);
    throw new MailError('unavailable', 'The mailbox did not answer', { cause: error, mayHaveArrived });
  }
}

/** Nothing of the mail, and neither the server nor its user. */
const SPAN = { 'peer.service': 'mail', 'network.protocol.name': 'smtp' };

const TIMEOUT_MS = 30_000;

/** Pool options of a connection. */
function poolOptions(connection: SmtpConnection): SMTPPoolOptions & { pool: true } {
  return {
    pool: true,
    host: connection.host,
    port: connection.port,
    ...smtpTlsOptions(connection),
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

interface WatchedMail extends SendMailOptions {
  /** The server has asked for the content: from then on it may have the mail, whatever becomes of the connection. */
  onContent: () => void;
}

/** The content is read when the server has accepted sender and recipient (its answer 354), and not before. */
function watchContent({ data, message }: MailMessage, done: (error?: Error | null) => void): void {
  message.processFunc((content) => Readable.from(announced(content, (data as WatchedMail).onContent), { objectMode: false }));
  done();
}

async function* announced(content: Readable, onContent: () => void): AsyncGenerator<unknown> {
  onContent();
  yield* content;
}

/** Sends over pooled connections; the pool is rebuilt when the settings change. */
class SmtpSender {
  readonly #tracing: Tracing;
  #pool: { key: string; transport: Transporter<SMTPPoolSentMessageInfo> } | null = null;

  constructor(tracing: Tracing = NO_TRACING) {
    this.#tracing = tracing;
  }

  /** @throws MailError */
  send(connection: SmtpConnection, mail: Mail): Promise<void> {
    return this.#tracing.inSpan('client', 'SEND mail', SPAN, () => this.#send(connection, mail));
  }

  async #send(connection: SmtpConnection, mail: Mail): Promise<void> {
    let hasContent = false;
    const watched: WatchedMail = {
      from: { name: connection.fromName, address: connection.fromEmail },
      to: { name: '', address: mail.to },
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      ...(mail.headers === undefined ? {} : { headers: mail.headers }),
      onContent: () => {
        hasContent = true;
      },
    };
    try {
      await (await this.#transport(connection)).sendMail(watched);
    } catch (error) {
      // Every answer of the server says that it has not taken the mail; only a lost one leaves that open.
      const mayHaveArrived = hasContent && !(error as { responseCode?: number }).responseCode;
      throw new MailError(failureOf(error), 'The mail server did not accept the mail', { cause: error, mayHaveArrived });
    }
  }

  close(): void {
    this.#pool?.transport.close();
    this.#pool = null;
  }

  async #transport(connection: SmtpConnection): Promise<Transporter<SMTPPoolSentMessageInfo>> {
    // With the first mail: many installations send none.
    const { createTransport } = (await import('nodemailer')).default;
    const key = JSON.stringify(connection);
    if (this.#pool?.key !== key) {
      this.close();
      const transport = createTransport(poolOptions(connection));
      transport.use('stream', watchContent);
      this.#pool = { key, transport };
    }
    return this.#pool.transport;
  }
}

/** A 5xx about this mail or its envelope is final, a 4xx about its envelope is for later; errors of sign-in and connection may be temporary. */
function failureOf(error: unknown): MailFailure {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return 'unavailable';
  if (responseCode === undefined || responseCode >= 500) return 'rejected';
  return code === 'EENVELOPE' ? 'put_off' : 'unavailable';
}

/** Real mail server. Configured = a host and a from address. */
export interface SmtpConnection {
  kind: 'smtp';
  host: string;
  port: number;
  user: string | null;
  password: string | null;
  fromEmail: string;
  fromName: string;
  /** STARTTLS is required. On the port of implicit TLS the connection is TLS from the start, independent of this value. */
  useTls: boolean;
  tls: SmtpSecurity['tls'];
}

/** The sandbox's mailbox, over HTTP on loopback. */
interface SandboxMailConnection {
  kind: 'sandbox';
  baseUrl: string;
  fromEmail: string;
  fromName: string;
}

export type MailConnection = SmtpConnection | SandboxMailConnection;
