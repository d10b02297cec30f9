import { type HttpClient, OutboundError } from '../../core/http/http-client.ts';
import { isCertainlyUnsent } from '../../core/http/unsent.ts';
import type { Tracing } from '../../core/telemetry/tracing.ts';
import { type Mail, MailError, type MailPort } from '../../domain/messaging/ports.ts';
import type { MailConnection, SandboxMailConnection } from './connection.ts';
import { SmtpSender } from './smtp-transport.ts';

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
